import { type Html, html } from '../../html.ts';
import { logo } from './logo.ts';
import { outside } from './outside.ts';
import type { ShownAccount } from './page.ts';

export function person({ display_name, username }: ShownAccount): Html {
  return html`<div class="person">${logo({ name: display_name, logo_uri: null }, 'small round')}
<div class="who"><p class="name">${outside(display_name)}</p><p class="quiet">${outside(username)}</p></div></div>`;
}
