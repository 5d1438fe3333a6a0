import type { Account, GrantDescription } from '@latchkey/schema';
import { type Html, html } from '../../http/html.ts';
import type { PageTexts } from '../../http/linking/text-catalog.ts';
import { logo } from '../../http/linking/views/logo.ts';
import { outside } from '../../http/linking/views/outside.ts';
import type { Page, PageFrame } from '../../http/linking/views/page.ts';
import { person } from '../../http/linking/views/person.ts';
import { scopeList } from '../../http/linking/views/scope-list.ts';
import { demoLogos } from '../demo-logos.ts';
import { demoScope } from '../demo-records.ts';
import type { ShownExperiment } from '../experiments.ts';
import type { HeardEvent } from '../heard-events.ts';
import { demoPaths } from '../linking-demo.ts';
import { demoLayout } from './demo-layout.ts';
import { experimentButtons, experimentSection, wireToCome } from './experiment-section.ts';
import { guidesSection } from './guides-section.ts';

export type LinkState =
  | { readonly kind: 'none' }
  | { readonly kind: 'linked'; readonly grant: GrantDescription }
  | { readonly kind: 'ended' };

const outcomes = {
  denied: 'You chose not to connect your account, so nothing changed.',
  failed: 'The attempt to connect failed. Try again.',
  unasked:
    'That response does not belong to a connection that this browser started. It was ignored.',
};

export type Outcome = keyof typeof outcomes;

export interface ApplicationView {
  readonly state: LinkState;
  /** From the address of the page, so it can be any text. */
  readonly outcome: string | null;
  readonly user: Pick<Account, 'display_name'> | null;
  /** About the links of this browser, newest first. */
  readonly heard: readonly HeardEvent[];
  /** Null before the first link of this browser. */
  readonly shown: ShownExperiment | null;
  readonly publicUrl: string;
}

export function applicationPage(hostFrame: PageFrame, view: ApplicationView): Page {
  const host = hostFrame.theme;
  const theme = { ...hostFrame.theme, name: 'Demo Application', logo: demoLogos.application };
  const { state, user, heard, shown, publicUrl } = view;
  const { title, text } = headings[state.kind];
  const notice = noticeOf(view);

  const body = html`<div class="story">
<header>
<div class="parties">${logo({ name: theme.name, logo_uri: theme.logo })}${
    state.kind === 'linked'
      ? html`<span class="between"></span>${logo({ name: host.name, logo_uri: host.logo })}`
      : null
  }</div>
<h1>${title}</h1>
<p class="quiet">${text(outside(host.name))}</p>
</header>
${notice}
${state.kind === 'linked' ? linkedAccount(state.grant, hostFrame.texts) : null}
${state.kind === 'none' ? steps : null}
${
  state.kind === 'linked'
    ? null
    : html`<div class="actions"><a class="button" href="${publicUrl}${demoPaths.connect}">Connect your account</a></div>`
}
</div>
<div class="wire">
${shown === null || notice !== null ? wireToCome : experimentSection(shown)}
${shown === null ? null : heardSection(heard, host.name)}
</div>
<div class="tries">
${experimentButtons(publicUrl, { isLinked: state.kind === 'linked' })}
${user === null ? null : atTheHost(host.name, state.kind === 'linked' ? user : null, publicUrl)}
</div>
${guidesSection}
<div class="notes quiet">
<p>This application and ${outside(host.name)} are a demo. They use the same routes as everybody else: <a href="${publicUrl}/docs">all of them are described here</a>.</p>
</div>`;

  const logos = [theme.logo, host.logo];
  return demoLayout({ ...hostFrame, theme }, { title: 'Demo', body, logos });
}

const headings = {
  none: {
    title: 'Connect your account',
    text: (host: Html) => html`Demo Application wants to know who you are at ${host}.`,
  },
  linked: {
    title: 'Your account is connected',
    text: (host: Html) =>
      html`Demo Application has a grant for it, which works until you disconnect the application at ${host}.`,
  },
  ended: {
    title: 'Your account is disconnected',
    text: (host: Html) => html`${host} refuses the grant of Demo Application now.`,
  },
};

function noticeOf({ outcome }: ApplicationView): Html | null {
  if (outcome === null || !Object.hasOwn(outcomes, outcome)) return null;
  return html`<p class="notice" role="status">${outcomes[outcome as Outcome]}</p>`;
}

const steps = html`<ol class="steps">
<li>Sign in, as Ada or as Grace.</li>
<li>Read what the application asks for, and allow it.</li>
<li>See each request, and end the connection.</li>
</ol>`;

function linkedAccount(
  { account, scope, choice, grant_id, created_at }: GrantDescription,
  texts: PageTexts,
): Html {
  return html`<div class="account">
${person(account)}
</div>
<section>
<h2>The application can:</h2>
${scopeList([demoScope], texts)}
</section>
<dl class="details quiet"><dt>Grant</dt><dd>${grant_id}</dd><dt>Scope</dt><dd>${scope}</dd>${choice && html`<dt>Workspace</dt><dd>${outside(choice.label)}</dd>`}<dt>Since</dt><dd>${created_at}</dd></dl>`;
}

/** What the endpoint of the application was told about the links of this browser. */
function heardSection(heard: readonly HeardEvent[], host: string): Html {
  const items = heard.map(({ type, data: { grant_id, reason } }) => {
    const because = reason ? html`, because: ${reason}` : null;
    return html`<li><code>${type}</code> of ${grant_id ?? null}${because}</li>`;
  });
  return html`<section>
<h2>What the application was told</h2>
<p class="quiet">Latchkey sends the application a signed event a moment after a grant ends, also after you end one at ${outside(host)}. These are about the connections of this browser, newest first.</p>
${items.length === 0 ? html`<p class="quiet">Nothing yet. Disconnect, and reload this page.</p>` : html`<ul class="events">${items}</ul>`}
</section>`;
}

/** @param user - null to an application that the user did not connect: it knows nobody */
function atTheHost(
  name: string,
  user: Pick<Account, 'display_name'> | null,
  publicUrl: string,
): Html {
  const text =
    user === null
      ? html`${outside(name)} shows you what you have connected.`
      : html`At ${outside(name)}, you are signed in as ${outside(user.display_name)}.`;
  return html`<form method="post" action="${publicUrl}${demoPaths.connections}">
<p class="quiet">${text}</p>
<div class="actions"><button type="submit" class="button calm">Connected applications</button></div>
</form>`;
}
