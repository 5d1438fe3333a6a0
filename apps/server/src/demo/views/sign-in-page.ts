import { html } from '../../http/html.ts';
import { logo } from '../../http/linking/views/logo.ts';
import { outside, whoIs } from '../../http/linking/views/outside.ts';
import type { Page, PageFrame, ShownName } from '../../http/linking/views/page.ts';
import { demoAccounts } from '../demo-records.ts';
import { demoLayout } from './demo-layout.ts';

export interface SignIn {
  readonly action: string;
  readonly link: string;
  readonly application: ShownName;
}

export function signInPage(frame: PageFrame, { action, link, application }: SignIn): Page {
  const { theme, texts } = frame;
  const users = Object.entries(demoAccounts).map(
    ([user, { display_name }]) => html`
<div class="choice">${logo({ name: display_name, logo_uri: null }, 'small round')}<button type="submit" class="button calm" name="user" value="${user}">${display_name}</button></div>`,
  );

  const body = html`<header>
<div class="parties">${logo({ name: theme.name, logo_uri: theme.logo })}</div>
<h1>Sign in to ${outside(theme.name)}</h1>
<p>${whoIs(application, texts)} wants to connect to your account. Who are you?</p>
</header>
<form method="post" action="${action}" autocomplete="off">
<input type="hidden" name="link" value="${link}">
<div class="choices">${users}</div>
</form>
<div class="notes quiet">
<p>This page is a demo: it has no passwords. Your service has its own sign-in page instead, which its users know.</p>
</div>`;

  return demoLayout(frame, { title: 'Sign in', body, logos: [theme.logo] });
}
