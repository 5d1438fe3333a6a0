import type { DomainError } from '@latchkey/domain/domain-error';
import { reasons } from '@latchkey/domain/reasons';
import type { Linking } from '@latchkey/rules/linking/linking';
import {
  RefusedToApplication,
  refusalInWords,
  type StrangersAddress,
} from '@latchkey/rules/linking/redirect';
import { errorDefinition, isUuid, type ParameterIssue } from '@latchkey/schema';
import { type LanguageSources, preferredLanguages } from '../../page-texts/language.ts';
import { pageNameOf, type Settings } from '../../settings.ts';
import { errorHeaders, errorStatus } from '../error-response.ts';
import type { ErrorPageDetails, Headers, RequestContext } from '../request-context.ts';
import { send } from '../response.ts';
import type { SendError } from '../router.ts';
import type { PageAssets } from './assets.ts';
import { createTextCatalog } from './text-catalog.ts';
import { errorPage, type WayBack } from './views/error-page.ts';
import type { Page, PageFrame } from './views/page.ts';

export type PageSettings = Pick<
  Settings,
  'pageName' | 'pageLogo' | 'pageHome' | 'pageColor' | 'pageTexts'
>;

export interface PageSender {
  readonly languages: readonly string[];
  frameFor(
    context: RequestContext,
    known?: Pick<LanguageSources, 'locale' | 'ui_locales'>,
  ): PageFrame;
  send(context: RequestContext, page: Page, status?: number, headers?: Headers): void;
  readonly sendError: SendError;
}

export function createPageSender(
  { pageName, pageLogo, pageHome, pageColor, pageTexts }: PageSettings,
  { publicUrl, signInUrl }: Linking,
  assets: PageAssets,
): PageSender {
  const catalog = createTextCatalog(pageTexts);
  const name = pageNameOf({ pageName, signInUrl });
  const theme = { name, logo: pageLogo, home: pageHome, color: pageColor };
  const basePath = new URL(publicUrl).pathname.replace(/\/$/, '');

  const frameFor: PageSender['frameFor'] = ({ request }, known = {}) => {
    const acceptLanguage = request.headers['accept-language'];
    const preferred = preferredLanguages({ ...known, acceptLanguage });
    return { theme, texts: catalog.choose(preferred), basePath, assets };
  };

  function sendPage(context: RequestContext, page: Page, status = 200, headers: Headers = {}) {
    const all = { ...pageHeaders(page), ...headers };
    send(context, status, 'text/html; charset=UTF-8', page.html, all);
  }

  function wayBackOf(
    { code, members: { issues, redirect_to } }: DomainError,
    { application = null, back_url = null, again_path }: ErrorPageDetails,
  ): WayBack | null {
    const isTriedAgain =
      code === 'form_rejected' || code === 'client_document_unavailable' || isOfChoice(issues);
    if (isTriedAgain && again_path !== undefined) return { url: basePath + again_path, to: null };
    const service = { name, host: null };
    const url = redirect_to ?? back_url;
    if (url !== null) return { url, to: application ?? service };
    return pageHome === null ? null : { url: pageHome, to: service };
  }

  return {
    languages: catalog.languages,
    frameFor,
    send: sendPage,
    sendError(context, error) {
      const known = error.code === 'page_expired' ? {} : context.errorPage;
      const frame = frameFor(context, known);
      const isReturned = error instanceof RefusedToApplication;
      const returns = isReturned && error.address.voucher === 'stranger' ? error.address : null;
      const page = errorPage(frame, {
        returns,
        error_code: error.code,
        request_id: context.requestId,
        wayBack: wayBackOf(error, known),
        ownAddress: known.own_address === undefined ? null : basePath + known.own_address,
        host: new URL(publicUrl).hostname,
        refusedUri: error.code === 'redirect_uri_unregistered' ? uriToShow(known) : null,
        refusedClient: error.code === 'client_unknown' ? clientToShow(known) : null,
        problem: problemOf(error, returns),
      });
      sendPage(context, page, errorStatus(context, error), errorHeaders(context, error));
    },
  };
}

/** A person can choose again. A wrong decision comes from no page. */
const isOfChoice = (issues: readonly ParameterIssue[] = []) =>
  issues.some(({ path: [name] }) => name !== 'decision');

/** This shows what is wrong with a public document or the request, and nothing that only the service knows. */
function problemOf(error: DomainError, returns: StrangersAddress | null): string | null {
  const { code, reason } = error;
  if (code.startsWith('client_document_')) return reason && reasons[reason].found;
  if (returns === null || code === 'link_expired') return null;
  return refusalInWords(error).description ?? errorDefinition(code).description;
}

const MAX_SHOWN = 500;

/** Only with the characters of RFC 3986, section 2: any others may look like something else. */
function uriToShow({ refused_uri = null }: ErrorPageDetails): string | null {
  if (refused_uri === null || !/^[\w.~:/?#[\]@!$&'()*+,;=%-]+$/.test(refused_uri)) return null;
  // Cut, it would hide whose host it is.
  return refused_uri.length > MAX_SHOWN ? null : refused_uri;
}

/** What an id looks like. Whoever made the link chose it: a sentence, or a credential of somebody. */
function clientToShow({ refused_client = null }: ErrorPageDetails): string | null {
  const isId = refused_client !== null && (isUuid(refused_client) || ADDRESS.test(refused_client));
  return isId && refused_client.length <= MAX_SHOWN ? refused_client : null;
}

const ADDRESS = /^https:\/\/[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._~-]{0,40})*$/i;

/** `docs/protocol/linking.md#headers-of-a-page` */
export function pageHeaders({ logoOrigins, leadsAway }: Page): Headers {
  return {
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    // With `no-referrer`, browsers would send `Origin: null` with our own forms.
    'Referrer-Policy': 'same-origin',
    'X-Robots-Tag': 'noindex',
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      ["img-src 'self' data:", ...logoOrigins].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
      // Chrome and Safari apply it to every redirect after the form, also to those of the
      // application: https://github.com/w3c/webappsec-csp/issues/8.
      ...(leadsAway ? [] : ["form-action 'self'"]),
    ].join('; '),
  };
}
