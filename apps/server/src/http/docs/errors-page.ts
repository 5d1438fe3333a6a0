import { errorCodes, errorDefinition } from '@latchkey/schema';
import { type Html, html } from '../html.ts';
import { docsLayout, inlineCode, navigation } from './docs-layout.ts';

function section(code: (typeof errorCodes)[number]): Html {
  const { status, error, title, description, help, members = [] } = errorDefinition(code);
  const extra = members.map((member) => html`, with <code>${member}</code>`);
  return html`<section id="${code}">
<h2><a href="#${code}"><code>${code}</code></a></h2>
<p><strong>${title}.</strong> Status ${status}, <code>error</code> is <code>${error}</code>${extra}.</p>
<p>${inlineCode(description)}</p>
<p>${inlineCode(help)}</p>
</section>
`;
}

export const errorsPage = docsLayout({
  title: 'Latchkey: errors',
  root: '../',
  body: html`${navigation('../')}
<main>
<h1>Errors</h1>
<p>Every error has a body with <code>error</code> (the standard OAuth word), <code>error_description</code> (what to do next), <code>error_code</code> (stable, the one to branch on), <code>error_uri</code> (its section on this page) and <code>request_id</code>. Over tRPC the same body is in <code>error.data</code>. On <code>/v1</code>, <code>error</code> is <code>invalid_token</code> in place of <code>invalid_client</code>.</p>
<p><code>/oauth/authorize</code>, <code>/link/…</code> and <code>/connections…</code> are for people: they show their errors as pages. With status 303, the error goes to the application: the browser takes it to the redirect URI, and its members are parameters of the query.</p>
${errorCodes.map(section)}
</main>`,
});
