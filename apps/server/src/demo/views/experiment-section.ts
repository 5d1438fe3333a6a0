import { isDeepStrictEqual } from 'node:util';
import { type Html, html } from '../../http/html.ts';
import type { ShownCall } from '../demo-client.ts';
import type { LinkExperiment, ShownExperiment } from '../experiments.ts';
import { demoPaths } from '../linking-demo.ts';

const labels: Record<Exclude<LinkExperiment, 'connect'>, string> = {
  race: 'Send the code 8 times at once',
  lost: 'Lose the response',
  replay: 'Replay the code',
};

export function experimentButtons(publicUrl: string, { isLinked }: { isLinked: boolean }): Html {
  const links = Object.entries(labels).map(
    ([experiment, label]) =>
      html`<a class="button calm" href="${publicUrl}${demoPaths.connect}?try=${experiment}">${label}</a>`,
  );
  const end = isLinked
    ? html`<form method="post" action="${publicUrl}${demoPaths.end}"><button type="submit" class="button calm">Disconnect, then call</button></form>`
    : null;
  return html`<section class="experiments">
<h2>${isLinked ? 'See what Latchkey promises' : 'Or connect, and see what Latchkey promises'}</h2>
<p class="quiet">A code works once, so each begins a link of its own. You sign in once.</p>
<div class="choices">${links}${end}</div>
</section>`;
}

const used = 'POST /oauth/convert 400 code_already_used';
const works = 'GET /v1/grant 200';

const promises: Record<ShownExperiment['experiment'], { lesson: string; results: string[] }> = {
  connect: {
    lesson: 'The application sent the code, got the grant, and used it.',
    results: ['POST /oauth/convert 200', works],
  },
  race: {
    lesson:
      'The application sent the code 8 times at once. One request got the grant, the others learned its id, and the grant worked.',
    results: ['POST /oauth/convert 200', ...Array<string>(7).fill(used), works],
  },
  lost: {
    lesson:
      'The application never saw the first response. The code was spent, so the application recovered its grant, and the grant worked.',
    results: ['POST /oauth/convert', used, 'POST /oauth/recover 200', works],
  },
  replay: {
    lesson:
      'The code was sent again: by the application, and by somebody without its secret. Neither got a grant, and the first one still worked.',
    results: [
      'POST /oauth/convert 200',
      used,
      'POST /oauth/convert 401 credentials_missing',
      works,
    ],
  },
  end: {
    lesson: 'The application ended the grant. The very next call with it was refused.',
    results: ['POST /oauth/revoke 200', 'GET /v1/grant 401 credentials_invalid'],
  },
};

const resultOf = ({ request, status, error_code }: ShownCall) =>
  [request, status, error_code].filter((part) => part !== null).join(' ');

const isAsPromised = ({ experiment, calls }: ShownExperiment) =>
  isDeepStrictEqual(calls.map(resultOf), promises[experiment].results);

/** What went over the wire. Calls with the same result are folded into one line. */
export function experimentSection(shown: ShownExperiment): Html {
  const lesson = isAsPromised(shown)
    ? promises[shown.experiment].lesson
    : 'This is not what Latchkey promises. Look at the calls.';
  const groups = Map.groupBy(shown.calls, resultOf).values();
  return html`<section class="calls">
<h2>What went over the wire</h2>
<p class="quiet">${lesson} Secrets and codes are shortened to their last characters.</p>
<ol>${Array.from(groups, (calls, i) => html`<li>${groupItem(calls, i === 0)}</li>`)}</ol>
</section>`;
}

/** Before the first link. */
export const wireToCome = html`<section class="calls">
<h2>What goes over the wire</h2>
<p class="quiet">Once you have pressed Allow, the requests of the application are here, with their responses:</p>
<ol>
<li class="expected"><code>POST /oauth/convert</code> sends the code, and gets the grant.</li>
<li class="expected"><code>GET /v1/grant</code> uses the grant.</li>
<li class="expected"><code>POST /oauth/revoke</code> ends it.</li>
</ol>
</section>`;

function groupItem(calls: readonly ShownCall[], isOpen: boolean): Html {
  const [first] = calls as [ShownCall];
  if (calls.length === 1) return callItem(first, isOpen);
  return html`<details><summary>${calls.length} × ${lineOf(first)}</summary>
<ol>${calls.map((call) => html`<li>${callItem(call)}</li>`)}</ol></details>`;
}

function lineOf({ request, status, error_code }: ShownCall): Html {
  const reason = error_code === null ? null : html` <code>${error_code}</code>`;
  const result = status === null ? 'the response is lost' : html`${status}${reason}`;
  return html`<code>${request}</code> → ${result}`;
}

function callItem(call: ShownCall, isOpen = false): Html {
  const { request, authorization, sent, received } = call;
  const header = authorization === null ? 'no Authorization' : `Authorization: ${authorization}`;
  const asked = [request, header, sent].filter((line) => line !== null).join('\n');
  return html`<details${isOpen ? html` open` : null}><summary>${lineOf(call)}</summary>
<pre>${asked}</pre>${received === null ? null : html`<pre>${received}</pre>`}</details>`;
}
