import type { RedirectKind } from '@latchkey/schema';
import { html } from '../../html.ts';
import { decisionButton, form } from './form.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import { homepageLink, outside, strongOutside } from './outside.ts';
import type { Page, PageFrame, ShownAccount, ShownApplication, ShownScope } from './page.ts';
import { person } from './person.ts';
import { scopeList } from './scope-list.ts';

export interface ConsentQuestion {
  readonly link_id: string;
  readonly application: ShownApplication;
  readonly account: ShownAccount;
  readonly scopes: readonly ShownScope[];
  readonly redirect_host: string;
  readonly redirect_kind: RedirectKind;
  readonly formToken: string;
}

export function consentPage(frame: PageFrame, question: ConsentQuestion): Page {
  const { theme, texts } = frame;
  const { application, account, scopes, redirect_host, redirect_kind } = question;
  const host = { name: theme.name, logo_uri: theme.logo };
  const name = outside(application.name);

  const body = html`<header>
<div class="parties">${logo(application)}<span class="between"></span>${logo(host)}</div>
<h1>${texts.of('consent.title', { application: name, service: outside(theme.name) })}</h1>
${application.homepage_uri === null ? null : html`<p>${homepageLink(application.homepage_uri)}</p>`}
</header>
<div class="account" role="group" aria-label="${texts.plain('consent.account')}">
${person(account)}
${decisionButton('switch', texts.of('consent.switch'), 'text-button')}
</div>
<section>
<h2>${texts.of('consent.scopes', { application: name })}</h2>
${scopeList(scopes, texts)}
</section>
${
  redirect_kind === 'web'
    ? null
    : html`<p class="notice caution">${texts.of('consent.device', { application: name })}</p>`
}
<div class="notes">
<p>${texts.of('consent.next', { redirect_host: strongOutside(redirect_host) })}</p>
<p class="quiet">${texts.of('consent.end', { application: name })}</p>
</div>
<div class="actions">
${decisionButton('deny', texts.of('consent.deny'), 'button calm')}
${decisionButton('allow', texts.of('consent.allow'))}
</div>`;

  return layout(frame, {
    title: texts.plain('consent.document'),
    body: form(frame, `/link/${question.link_id}`, question.formToken, body),
    logos: [theme.logo, application.logo_uri],
    leadsAway: true,
  });
}
