import { type Html, html } from '../../http/html.ts';
import type { Exchange } from '../demo-client.ts';
import { demoPaths } from '../linking-demo.ts';
import type { LinkProof, Shown } from '../proofs.ts';

const labels: Record<LinkProof, string> = {
  race: 'Send the code 8 times at once',
  lost: 'Lose the response',
  replay: 'Replay the code',
};

/** Each begins a link of its own, since a code works once. */
export function proofButtons(publicUrl: string, { isLinked }: { isLinked: boolean }): Html {
  const links = Object.entries(labels).map(
    ([proof, label]) =>
      html`<a class="button calm" href="${publicUrl}${demoPaths.connect}?proof=${proof}">${label}</a>`,
  );
  const end = isLinked
    ? html`<form method="post" action="${publicUrl}${demoPaths.end}"><button type="submit" class="button calm">Disconnect, then call</button></form>`
    : null;
  return html`<section>
<h2>${isLinked ? 'See what it promises' : 'Or connect, and see what it promises'}</h2>
<div class="choices">${links}${end}</div>
</section>`;
}

const lessons: Record<Shown['proof'], string> = {
  race: 'The application sent the code 8 times at once. One request got the grant, the others learned its id, and the grant works.',
  lost: 'The application never saw the first response. The code is spent, so the application recovers its grant.',
  replay:
    'The code was sent again: by the application, and by somebody without its secret. Neither got a grant, and the first one still works.',
  end: 'The application ended the grant. The very next call with it is refused.',
};

/** What went over the wire. */
export function proofSection({ proof, exchanges }: Shown): Html {
  return html`<section class="exchanges">
<h2>What went over the wire</h2>
<p class="quiet">${lessons[proof]} Secrets and codes are shortened to their last characters.</p>
<ol>${exchanges.map((exchange) => html`<li>${exchangeItem(exchange)}</li>`)}</ol>
</section>`;
}

function exchangeItem({ request, authorization, sent, status, received }: Exchange): Html {
  const result = status === null ? 'the response is lost' : html`${status}${reasonOf(received)}`;
  const header = authorization === null ? 'no Authorization' : `Authorization: ${authorization}`;
  const asked = [request, header, sent].filter((line) => line !== null).join('\n');
  return html`<details><summary><code>${request}</code> → ${result}</summary>
<pre>${asked}</pre>${received === null ? null : html`<pre>${received}</pre>`}</details>`;
}

function reasonOf(received: string | null): Html | null {
  const { error_code } = JSON.parse(received ?? '{}') as { error_code?: string };
  return error_code === undefined ? null : html` <code>${error_code}</code>`;
}
