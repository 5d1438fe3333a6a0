import type { Milliseconds } from '@latchkey/domain/clock';
import { type Choice, formatTimestamp } from '@latchkey/schema';
import { type Html, html } from '../../html.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import {
  claimOf,
  homepageLink,
  hostAndPort,
  named,
  outside,
  outsideLink,
  plainlyWho,
  whoIs,
} from './outside.ts';
import type {
  Page,
  PageFrame,
  ShownAccount,
  ShownApplication,
  ShownName,
  ShownScope,
} from './page.ts';
import { yourAccount } from './person.ts';
import { scopeList } from './scope-list.ts';

interface ShownConnection {
  readonly application: ShownApplication & { readonly id: string; readonly disabled: boolean };
  readonly scopes: readonly ShownScope[];
  /** The servers that it uses the account at, besides the service. */
  readonly resources: readonly { readonly resource: string; readonly name: string }[];
  /** What the user chose for its grants. */
  readonly choices: readonly Choice[];
  readonly connected_at: Milliseconds;
  readonly last_used_at: Milliseconds | null;
}

export interface ConnectionList {
  readonly account: ShownAccount;
  readonly connections: readonly ShownConnection[];
  readonly return_url: string | null;
  /** The cursor of the next page; null at the end. */
  readonly next: string | null;
  /** What the user has just disconnected. */
  readonly ended: ShownName | null;
  readonly now: Milliseconds;
}

export function connectionsPage(
  frame: PageFrame,
  { account, connections, return_url, next, ended, now }: ConnectionList,
): Page {
  const { theme, texts, basePath } = frame;
  const service = outside(theme.name);
  const back = return_url ?? theme.home;
  const list = html`<ul class="connections">${connections.map((connection) =>
    connectionItem(frame, connection, now),
  )}</ul>`;

  const body = html`<header>
<div class="parties">${logo({ name: theme.name, logo_uri: theme.logo })}</div>
<h1>${texts.of('connections.title')}</h1>
<p class="quiet">${
    connections.length === 0
      ? texts.of('connections.empty', { service })
      : texts.of('connections.intro', { service })
  }</p>
</header>
${ended === null ? null : notice(texts.of('connections.done', { application: whoIs(ended, texts, 'alone') }))}
${yourAccount(account, texts)}
${connections.length === 0 ? null : list}
${
  next === null
    ? null
    : html`<div class="actions"><a class="button calm" rel="next" href="${basePath}/connections?cursor=${next}">${texts.of('connections.more')}</a></div>`
}
${
  back === null
    ? null
    : html`<div class="actions">${outsideLink(back, texts.of('connections.back', { service }), 'button calm')}</div>`
}`;

  return layout(frame, {
    title:
      ended === null
        ? texts.plain('connections.title')
        : texts.plain('connections.done.title', { application: plainlyWho(ended, texts) }),
    body,
    logos: [theme.logo, ...connections.map(({ application }) => application.logo_uri)],
  });
}

/** Has the focus, so that a screen reader says it first, without a script too. */
function notice(text: Html): Html {
  return html`<p class="notice done" role="status" tabindex="-1" autofocus>${text}</p>`;
}

function connectionItem(
  { theme, texts, basePath }: PageFrame,
  { application, scopes, resources, choices, connected_at, last_used_at }: ShownConnection,
  now: Milliseconds,
): Html {
  const { id, disabled } = application;
  const claim = claimOf(application, texts);
  const day = new Intl.DateTimeFormat(texts.language, { dateStyle: 'medium', timeZone: 'UTC' });
  const date = html`<time datetime="${formatTimestamp(connected_at)}">${day.format(connected_at)}</time>`;
  const since =
    last_used_at === null
      ? texts.of('connections.since', { date })
      : texts.of('connections.used', {
          ...{ date, day: html`${daysAgo(last_used_at, now, texts.language)}` },
        });
  return html`
<li>
${logo(application, 'small')}
<div class="who"><h2 id="name-${id}">${
    claim === null
      ? whoIs(application, texts)
      : texts.of('connections.documented', { host: whoIs(application, texts), application: claim })
  }</h2>${placeOf(application)}</div>
<div class="quiet"><p>${since}</p>${resources.map(
    ({ resource, name }) =>
      html`<p>${texts.of('connections.resource', {
        ...{ resource: named(name), host: outside(hostAndPort(resource)) },
      })}</p>`,
  )}${choices.length === 0 ? null : html`<p>${texts.of('connections.choices', { choices: labelsOf(choices) })}</p>`}</div>
${disabled ? html`<p class="notice caution">${texts.of('connections.paused', { service: outside(theme.name) })}</p>` : null}
${allowed(scopes, texts)}
<a class="button calm" id="end-${id}" href="${basePath}/connections/${id}" aria-labelledby="end-${id} name-${id}">${texts.of('connections.disconnect')}</a>
</li>`;
}

/** The homepage that an operator has registered. */
function placeOf({ host, homepage_uri }: ShownApplication): Html | null {
  if (host !== null || homepage_uri === null) return null;
  return html`<p class="quiet">${homepageLink(homepage_uri)}</p>`;
}

/** Users of a host may name what they choose, again and again. `docs/protocol/limits.md` has it. */
export const MOST_LABELS = 20;

const labelsOf = (choices: readonly Choice[]): Html =>
  html`${choices
    .slice(0, MOST_LABELS)
    .map(({ label }, index) => html`${index === 0 ? null : ', '}${outside(label)}`)}${
    choices.length > MOST_LABELS ? ', …' : null
  }`;

const MOST_UNFOLDED = 3;

function allowed(scopes: readonly ShownScope[], texts: PageFrame['texts']): Html {
  const list = scopeList(scopes, texts, true);
  if (scopes.length <= MOST_UNFOLDED) {
    return html`<div><p class="quiet">${texts.of('connections.scopes')}</p>${list}</div>`;
  }
  const count = String(scopes.length);
  return html`<details><summary class="quiet">${texts.of('connections.scopes.folded', { count })}</summary>${list}</details>`;
}

const DAY: Milliseconds = 86_400_000;

/** Such as "today": the time is accurate to the day. */
function daysAgo(time: Milliseconds, now: Milliseconds, language: string): string {
  const days = Math.max(0, Math.floor(now / DAY) - Math.floor(time / DAY));
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-days, 'day');
}
