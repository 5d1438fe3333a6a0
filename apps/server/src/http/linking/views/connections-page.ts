import { formatTimestamp } from '@latchkey/schema';
import type { Milliseconds } from '../../../clock.ts';
import { type Html, html } from '../../html.ts';
import { layout } from './layout.ts';
import { logo } from './logo.ts';
import { outside, outsideLink } from './outside.ts';
import type { Page, PageFrame, ShownApplication, ShownScope } from './page.ts';
import { scopeList } from './scope-list.ts';

export interface ShownConnection {
  readonly application: ShownApplication;
  readonly scopes: readonly ShownScope[];
  readonly connected_at: Milliseconds;
  readonly last_used_at: Milliseconds | null;
}

export interface ConnectionList {
  readonly connections: readonly ShownConnection[];
  readonly return_url: string | null;
  readonly isDone: boolean;
  readonly now: Milliseconds;
}

export function connectionsPage(
  frame: PageFrame,
  { connections, return_url, isDone, now }: ConnectionList,
): Page {
  const { theme, texts } = frame;
  const service = outside(theme.name);
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
${isDone ? html`<p class="notice" role="status">${texts.of('connections.done')}</p>` : null}
${connections.length === 0 ? null : list}
${
  return_url === null
    ? null
    : html`<div class="actions">${outsideLink(return_url, texts.of('connections.back', { service }), 'button calm')}</div>`
}`;

  return layout(frame, {
    title: texts.plain('connections.title'),
    body,
    logos: [theme.logo, ...connections.map(({ application }) => application.logo_uri)],
  });
}

function connectionItem(
  { texts, basePath }: PageFrame,
  { application, scopes, connected_at, last_used_at }: ShownConnection,
  now: Milliseconds,
): Html {
  const { id, name } = application;
  const day = new Intl.DateTimeFormat(texts.language, { dateStyle: 'long', timeZone: 'UTC' });
  const date = html`<time datetime="${formatTimestamp(connected_at)}">${day.format(connected_at)}</time>`;
  const since =
    last_used_at === null
      ? texts.of('connections.since', { date })
      : texts.of('connections.used', {
          ...{ date, day: html`${daysAgo(last_used_at, now, texts.language)}` },
        });
  return html`
<li>
<div class="head">${logo(application, 'small')}
<div class="who"><h2 id="name-${id}">${outside(name)}</h2><p class="quiet">${since}</p></div>
<a class="button calm" id="end-${id}" href="${basePath}/connections/${id}" aria-labelledby="end-${id} name-${id}">${texts.of('connections.disconnect')}</a></div>
<div><p class="quiet">${texts.of('connections.scopes')}</p>${scopeList(scopes, texts, true)}</div>
</li>`;
}

const DAY: Milliseconds = 86_400_000;

/** Such as "today": the time is accurate to the day. */
function daysAgo(time: Milliseconds, now: Milliseconds, language: string): string {
  const days = Math.max(0, Math.floor(now / DAY) - Math.floor(time / DAY));
  return new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(-days, 'day');
}
