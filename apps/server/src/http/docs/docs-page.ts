import { html } from '../html.ts';
import { docsLayout } from './docs-layout.ts';

export const docsPage = docsLayout(
  'Latchkey: API',
  html`<link rel="stylesheet" href="/docs/swagger-ui.css">
<script src="/docs/swagger-ui-bundle.js" defer></script>
<script src="/docs/open.js" defer></script>`,
  html`<div id="docs"><noscript>This page needs JavaScript. Its content is also in <a href="/openapi.json">/openapi.json</a> and <a href="/docs/errors">/docs/errors</a>.</noscript></div>`,
);

/** A file of its own, because the policy allows no inline script. */
export const docsScript = `window.SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
`;

export const pageStyle = `body { margin: 0; font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; }
main { max-width: 46rem; margin: 0 auto; padding: 2rem 1rem 6rem; }
h2 { margin: 2.5rem 0 0.5rem; font-size: 1.1rem; }
h2 a { color: inherit; text-decoration: none; }
section:target { border-left: 3px solid #0b62d6; padding-left: 1rem; margin-left: -1rem; }
code { font: 0.9em ui-monospace, monospace; background: #f2f3f5; padding: 0.1em 0.3em; border-radius: 3px; }
@media (prefers-color-scheme: dark) {
  body { color: #e6e6e6; background: #16181c; }
  code { background: #24272e; }
}
`;
