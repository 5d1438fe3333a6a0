import type { DomainError } from '@latchkey/domain/domain-error';
import { errorDefinition } from '@latchkey/schema';
import { ABOUT, guide } from '../../openapi/about.ts';
import { type Html, html } from '../html.ts';
import { docsLayout } from './docs-layout.ts';

/** Where the page leads. */
export interface Door {
  /** From `/`. */
  readonly href: string;
  readonly name: string;
  readonly text: string;
}

export interface HomeState {
  /** Null if the service is ready. */
  readonly problem: DomainError | null;
  readonly hasLinking: boolean;
}

const doors: readonly Door[] = [
  { href: './docs', name: 'API', text: 'The flow, and every operation, to try in the browser.' },
  { href: './docs/errors', name: 'Errors', text: 'What each code means, and what to do next.' },
  {
    href: guide('quickstart.md'),
    name: 'Guide',
    text: 'Add it to your service, or connect an application to it.',
  },
];

export function homePage({ problem, hasLinking }: HomeState, demo: Door | null): string {
  const all = demo === null ? doors : [demo, ...doors];
  return docsLayout({
    title: 'Latchkey',
    root: './',
    body: html`<main>
<h1>Latchkey</h1>
<p class="about">${ABOUT}</p>
<ul class="state">
${problem === null ? html`<li><strong>Ready.</strong> The database responds.</li>` : notReady(problem)}
${
  hasLinking
    ? html`<li><strong>Linking is on.</strong> Users connect applications to their accounts.</li>`
    : html`<li class="off"><strong>Linking is off.</strong> Set <code>SIGN_IN_URL</code>, and <a href="${guide('guides/hosts.md')}">users can connect applications</a>.</li>`
}
</ul>
<ul class="doors">${all.map(({ href, name, text }) => html`<li><a href="${href}" rel="noreferrer"><strong>${name}</strong>${text}</a></li>`)}</ul>
</main>`,
  });
}

function notReady({ code }: DomainError): Html {
  const why = html`<a href="./docs/errors#${code}">${errorDefinition(code).title}</a>`;
  return html`<li class="bad"><strong>Not ready.</strong> ${why}.</li>`;
}
