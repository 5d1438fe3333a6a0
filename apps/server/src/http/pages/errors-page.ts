import { errorCodes, errorDefinition } from '@latchkey/schema';
import { escapeHtml, htmlPage, inlineCode } from './html.ts';

function section(code: (typeof errorCodes)[number]): string {
  const { status, error, title, description, help, members = [] } = errorDefinition(code);
  const extra = members.map((member) => `<code>${member}</code>`).join(', ');
  return `<section id="${code}">
<h2><a href="#${code}"><code>${code}</code></a></h2>
<p><strong>${escapeHtml(title)}.</strong> Status ${status}, <code>error</code> is <code>${error}</code>${
    extra && `, with ${extra}`
  }.</p>
<p>${inlineCode(description)}</p>
<p>${inlineCode(help)}</p>
</section>`;
}

/** `GET /docs/errors`: every row of the error table, with an anchor for each error_code. */
export const errorsPage = htmlPage(
  'Latchkey: errors',
  '<link rel="stylesheet" href="/docs/page.css">',
  `<main>
<h1>Errors</h1>
<p>Every error has a body with <code>error</code> (the standard OAuth word), <code>error_description</code> (what to do next), <code>error_code</code> (stable, the one to branch on), <code>error_uri</code> (its section on this page) and <code>request_id</code>. Over tRPC the same body is in <code>error.data</code>. On <code>/v1</code>, <code>error</code> is <code>invalid_token</code> in place of <code>invalid_client</code>.</p>
${errorCodes.map(section).join('\n')}
</main>`,
);
