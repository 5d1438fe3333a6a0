import type { RedirectKind } from '@latchkey/schema';
import type { ChoiceQuestion } from '@latchkey/store/records';
import { type Html, html } from '../../html.ts';
import type { PageTexts } from '../text-catalog.ts';
import { choiceControl } from './choice.ts';
import { decisionButton, form } from './form.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import {
  claimOf,
  homepageLink,
  hostAndPort,
  named,
  outside,
  outsideLink,
  shownHost,
  strongOutside,
  whoIs,
} from './outside.ts';
import type { Page, PageFrame, ShownAccount, ShownApplication, ShownScope } from './page.ts';
import { yourAccount } from './person.ts';
import { optionalScopeList, scopeList } from './scope-list.ts';

export interface ConsentQuestion {
  readonly link_id: string;
  readonly application: ShownApplication;
  readonly account: ShownAccount;
  /** The server that it will use the account at; null for that of the service. */
  readonly resource: { readonly resource: string; readonly name: string } | null;
  readonly scopes: readonly ShownScope[];
  readonly optional_scopes: readonly ShownScope[];
  /** What the account allows the application by now, and is not asked again. */
  readonly allowed_scopes: readonly ShownScope[];
  /** What it asks besides; null for nothing. */
  readonly choice: ChoiceQuestion | null;
  readonly redirect_host: string;
  readonly redirect_kind: RedirectKind;
  readonly formToken: string;
}

export function consentPage(frame: PageFrame, question: ConsentQuestion): Page {
  const { theme, texts } = frame;
  const { application, account, resource, scopes, optional_scopes } = question;
  const { allowed_scopes, choice, redirect_host, redirect_kind } = question;
  const isOnDevice = application.device != null;
  const who = whoIs(application, texts);
  const title = whoIs(application, texts, 'title');
  const claim = claimOf(application, texts);
  const service = outside(theme.name);
  const { sensitive = [], others = [] } = Object.groupBy(scopes, (scope) =>
    scope.sensitive ? 'sensitive' : 'others',
  );

  const body = html`<header>
<div class="parties">${logo(application)}<span class="between"></span>${logo({ name: theme.name, logo_uri: theme.logo })}</div>
<h1>${
    claim === null
      ? texts.of('consent.title', { application: title, service })
      : texts.of('consent.title.documented', { host: title, application: claim, service })
  }</h1>
${application.homepage_uri === null ? null : html`<p>${homepageLink(application.homepage_uri)}</p>`}
${resource === null ? null : html`<p>${placeOf(resource, texts)}</p>`}
</header>
${yourAccount(account, texts, decisionButton('switch', texts.of('consent.switch'), 'text-button'))}
${
  sensitive.length === 0
    ? null
    : html`<section class="caution">
<h2>${texts.of('consent.sensitive', { application: title })}</h2>
${scopeList(sensitive, texts)}
</section>`
}
${
  others.length === 0
    ? null
    : html`<section>
<h2>${texts.of('consent.scopes', { application: title })}</h2>
${scopeList(others, texts)}
</section>`
}
${
  optional_scopes.length === 0
    ? null
    : html`<section role="group" aria-labelledby="optional">
<h2 id="optional">${texts.of('consent.optional', { application: title })}</h2>
${optionalScopeList(optional_scopes, texts)}
</section>`
}
${choice && choiceControl(choice)}
${
  allowed_scopes.length === 0
    ? null
    : html`<section class="quiet">
<h2>${texts.of('consent.allowed')}</h2>
${scopeList(allowed_scopes, texts, true)}
</section>`
}
${
  redirect_kind === 'web'
    ? null
    : html`<p class="notice caution">${
        isOnDevice
          ? texts.of('consent.device.itself')
          : texts.of('consent.device', { application: who })
      }</p>`
}
<div class="notes">
<p>${texts.of('consent.next', {
    redirect_host:
      redirect_kind === 'app' ? strongOutside(redirect_host) : shownHost(redirect_host),
  })}</p>
<p class="quiet">${texts.of('consent.end', {
    application: isOnDevice ? texts.of('return.device') : who,
  })}</p>
${pagesOf(application, texts)}
</div>
<div class="actions decide">
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

function placeOf({ name, resource }: { name: string; resource: string }, texts: PageTexts): Html {
  const host = hostAndPort(resource);
  return texts.of('consent.resource', { resource: named(name), host: strongOutside(host) });
}

function pagesOf({ policy_uri, tos_uri }: ShownApplication, texts: PageTexts): Html | null {
  if (policy_uri === null && tos_uri === null) return null;
  const policy = policy_uri && outsideLink(policy_uri, texts.of('consent.policy'));
  const terms = tos_uri && outsideLink(tos_uri, texts.of('consent.tos'));
  return html`<p class="quiet pages">${policy}${terms}</p>`;
}
