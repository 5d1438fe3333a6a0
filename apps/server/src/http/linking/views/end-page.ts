import type { StrangersAddress } from '@latchkey/rules/linking/redirect';
import { html } from '../../html.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import { outside, returnLink, targetIn } from './outside.ts';
import type { Page, PageFrame, ShownAccount } from './page.ts';
import { person } from './person.ts';

/** The end of a link request that connected nothing. It leads nowhere by itself. */
export function endPage(
  frame: PageFrame,
  { account, address }: { account: ShownAccount | null; address: StrangersAddress },
): Page {
  const { theme, texts } = frame;
  const body = html`<header>
<div class="parties">${logo({ name: theme.name, logo_uri: theme.logo })}</div>
<h1>${texts.of('end.title')}</h1>
<p>${texts.of('end.text', { service: outside(theme.name) })}</p>
<p>${texts.of('return.care', { target: targetIn(address, texts) })}</p>
</header>
${account === null ? null : html`<div class="account" role="group" aria-label="${texts.plain('consent.account')}">${person(account)}</div>`}
<div class="actions">${returnLink(address, texts)}</div>`;

  return layout(frame, { title: texts.plain('end.title'), body, logos: [theme.logo] });
}
