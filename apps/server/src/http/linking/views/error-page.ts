import type { StrangersAddress } from '@latchkey/rules/linking/redirect';
import type { ErrorCode } from '@latchkey/schema';
import { en, type TextKey } from '../../../page-texts/en.ts';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import { layout } from './layout.ts';
import { badge, logo } from './logo.ts';
import { outside, outsideLink, returnLink, targetIn, whoIs } from './outside.ts';
import type { Page, PageFrame, ShownName } from './page.ts';

export interface WayBack {
  readonly url: string;
  /** Where it leads; null for the page that the user came from. */
  readonly to: ShownName | null;
}

export interface ShownError {
  readonly error_code: ErrorCode;
  readonly request_id: string;
  readonly wayBack: WayBack | null;
  /** The page itself, if the request for it was no navigation of a person. Takes the place of `wayBack`. */
  readonly ownAddress: string | null;
  /** Whose cookies a browser has to keep. */
  readonly host: string;
  /** Takes the place of `wayBack`. */
  readonly returns: StrangersAddress | null;
  readonly refusedUri: string | null;
  readonly refusedClient: string | null;
  /** What is wrong with the document or the request of the application; null if that is not the error. */
  readonly problem: string | null;
}

export function errorPage(frame: PageFrame, shown: ShownError): Page {
  const { error_code, request_id, host, returns, refusedUri, refusedClient, problem } = shown;
  const { theme, texts, basePath } = frame;
  // What would have been a redirect: the person who came by it sent no form.
  const isRefusedRequest = returns !== null && error_code !== 'link_expired';
  const otherwise = isRefusedRequest ? 'request_refused' : kindOf(error_code);
  const kind = shown.ownAddress === null ? otherwise : 'navigation';
  const title = `error.${kind}.title` as const;

  const way = wayOn(shown, texts);
  const help = `${basePath}/docs/errors#${error_code}`;
  const code = ofDevelopers.has(error_code)
    ? html`<a href="${help}">${error_code}</a>`
    : error_code;

  const body = html`<header>
<div class="parties">${logo({ name: theme.name, logo_uri: theme.logo })}${kind === 'navigation' ? null : badge('caution')}</div>
<h1>${texts.of(title)}</h1>
<p>${texts.of(`error.${kind}.text`, { service: outside(theme.name), host: outside(host) })}</p>
${returns === null ? null : html`<p>${texts.of('return.care', { target: targetIn(returns, texts) })}</p>`}
</header>
${way === null ? null : html`<div class="actions">${way}</div>`}
${refusedUri && refused(texts.of('error.redirect_uri_unregistered.address'), refusedUri)}
${refusedClient && refused(texts.of('error.client_unknown.id'), refusedClient)}
${
  problem === null
    ? null
    : html`<div class="notes quiet">
<p>${texts.of(isRefusedRequest ? 'error.request_refused.problem' : 'error.client_document_invalid.problem')}</p>
<p lang="en">${problem}</p>
</div>`
}
<div class="notes quiet">
<p>${texts.of('error.details')}</p>
<dl class="details"><dt>${texts.of('error.code')}</dt><dd>${code}</dd><dt>${texts.of('error.request')}</dt><dd>${outside(request_id)}</dd></dl>
</div>`;

  return layout(frame, { title: texts.plain(title), body, logos: [theme.logo] });
}

const refused = (explanation: Html, sent: string) => html`<div class="notes quiet">
<p>${explanation}</p>
<p class="address">${outside(sent)}</p>
</div>`;

function wayOn({ ownAddress, returns, wayBack }: ShownError, texts: PageTexts): Html | null {
  if (ownAddress !== null) return linkOn(ownAddress, texts);
  if (returns !== null) return returnLink(returns, texts);
  return wayBack && linkBack(wayBack, texts);
}

function linkBack({ url, to }: WayBack, texts: PageTexts): Html {
  if (to === null) {
    return html`<a class="button calm" href="${url}">${texts.of('error.form_rejected.again')}</a>`;
  }
  return outsideLink(url, texts.of('error.back', { name: whoIs(to, texts) }), 'button calm');
}

/** Also out of a frame, and not by a script that would ask for it in the same way again. */
function linkOn(address: string, texts: PageTexts): Html {
  return html`<a class="button" href="${address}" target="_top" data-turbo="false">${texts.of('error.navigation.continue')}</a>`;
}

type ErrorKind = TextKey extends infer Key
  ? Key extends `error.${infer Kind}.title`
    ? Kind
    : never
  : never;

/** Only the developers of the application can do something about these. */
const ofDevelopers: ReadonlySet<ErrorCode> = new Set([
  'client_unknown',
  'client_document_invalid',
  'redirect_uri_unregistered',
  'state_invalid',
]);

const sameForPeople: { readonly [Code in ErrorCode]?: ErrorKind } = {
  store_unavailable: 'unavailable',
  store_full: 'unavailable',
  outcome_unknown: 'unavailable',
  shutting_down: 'unavailable',
  body_malformed: 'parameter_invalid',
  body_too_large: 'parameter_invalid',
  media_type_unsupported: 'parameter_invalid',
  // Errors of the demo host.
  link_not_found: 'page_expired',
  account_not_found: 'parameter_invalid',
};

function kindOf(error_code: ErrorCode): ErrorKind {
  const same = sameForPeople[error_code];
  if (same !== undefined) return same;
  return `error.${error_code}.title` in en ? (error_code as ErrorKind) : 'internal_error';
}
