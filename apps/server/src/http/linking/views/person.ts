import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import { logo } from './logo.ts';
import { outside } from './outside.ts';
import type { ShownAccount } from './page.ts';

export function yourAccount(
  account: ShownAccount,
  texts: PageTexts,
  more: Html | null = null,
): Html {
  return html`<div class="account" role="group" aria-label="${texts.plain('consent.account')}">
${person(account)}
${more}</div>`;
}

export function person({ display_name, username }: ShownAccount): Html {
  return html`<div class="person">${logo({ name: display_name, logo_uri: null }, 'small round')}
<div class="who"><p class="name">${outside(display_name)}</p><p class="quiet">${outside(username)}</p></div></div>`;
}
