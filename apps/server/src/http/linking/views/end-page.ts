import type { ReturnAddress } from '@latchkey/rules/linking/redirect';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import { layout } from './layout.ts';
import { badge, logo } from './logo.ts';
import { claimOf, outside, outsideLink, returnLink, targetIn, whoIs } from './outside.ts';
import type { Page, PageFrame, ShownAccount, ShownApplication } from './page.ts';
import { yourAccount } from './person.ts';

export interface ShownEnd {
  readonly link: { readonly decision: { readonly status: 'approved' | 'denied' } | null };
  /** Null where only a stranger's redirect URI is known. */
  readonly application: ShownApplication | null;
  readonly account: ShownAccount | null;
  /** Null once it leads nowhere any more. */
  readonly answer: ReturnAddress | null;
}

/** The end of a link request. */
export function endPage(frame: PageFrame, { link, application, account, answer }: ShownEnd): Page {
  const { theme, texts } = frame;
  const service = outside(theme.name);
  const connected = link.decision?.status === 'approved' ? application : null;
  const body = html`<header>
<div class="parties">${connected && html`${logo(connected)}${badge('done')}`}${logo({ name: theme.name, logo_uri: theme.logo })}</div>
${
  connected === null
    ? html`<h1>${texts.of('end.title')}</h1>
<p>${texts.of('end.text', { service })}</p>`
    : html`<h1>${texts.of('done.title', { application: whoIs(connected, texts, connected.device == null ? 'title' : 'alone') })}</h1>
<p>${texts.of('done.text', { service })}</p>`
}
${answer?.voucher === 'stranger' ? html`<p>${texts.of('return.care', { target: targetIn(answer, texts) })}</p>` : null}
</header>
${account === null ? null : yourAccount(account, texts)}
${answer === null ? null : html`<div class="actions">${wayOn(answer, application, texts)}</div>`}`;

  return layout(frame, {
    title: texts.plain(connected === null ? 'end.title' : 'done.document'),
    body,
    logos: [theme.logo, connected?.logo_uri ?? null],
  });
}

function wayOn(
  answer: ReturnAddress,
  application: ShownApplication | null,
  texts: PageTexts,
): Html | null {
  if (answer.voucher === 'stranger') return returnLink(answer, texts);
  if (application === null) return null;
  const name = claimOf(application, texts) ?? whoIs(application, texts);
  return outsideLink(answer.location, texts.of('done.open', { application: name }), 'button');
}
