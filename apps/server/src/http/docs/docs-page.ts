import { ABOUT, FLOW } from '../../openapi/about.ts';
import { html } from '../html.ts';
import { docsLayout, inlineCode, navigation } from './docs-layout.ts';

export const docsPage = docsLayout({
  title: 'Latchkey: API',
  root: './',
  head: html`<link rel="stylesheet" href="./docs/swagger-ui.css">
<script src="./docs/swagger-ui-bundle.js" defer></script>
<script src="./docs/open.js" defer></script>`,
  body: html`${navigation('./')}
<header>
<h1>OAuth 2.0 server</h1>
<p>${ABOUT}</p>
<ol>${FLOW.map((line) => html`<li>${inlineCode(line)}</li>`)}</ol>
<p>Every response that refuses something has an <code>error_code</code>: <a href="./docs/errors">what each means, and what to do next</a>. For tools: <a href="./openapi.json">OpenAPI</a>.</p>
<h2>Operations</h2>
</header>
<div id="docs"><noscript>Without JavaScript, the operations are in <a href="./openapi.json">/openapi.json</a>.</noscript></div>`,
});

/** A file of its own, because the policy allows no inline script. */
export const docsScript = `const dark = matchMedia('(prefers-color-scheme: dark)');
const dress = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', dress);
dress();
window.SwaggerUIBundle({
  url: './docs/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;
