import { type Html, html, replaceInText } from '../html.ts';

type Root = './' | '../';

interface DocsPage {
  readonly title: string;
  /** Leads to `/`, also where a proxy has the service under a path; null if nobody knows. */
  readonly root: Root | null;
  readonly head?: Html;
  readonly body: Html;
}

export function docsLayout({ title, root, head = html``, body }: DocsPage): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
${head}
${root && html`<link rel="stylesheet" href="${root}docs/page.css">`}
</head>
<body>
${body}
</body>
</html>
`.toString();
}

export const navigation = (root: Root): Html =>
  html`<nav><a href="${root}">Latchkey</a><a href="${root}docs">API</a><a href="${root}docs/errors">Errors</a></nav>`;

export const inlineCode = (text: string): Html =>
  replaceInText(text, /`([^`]+)`/g, (code) => html`<code>${code}</code>`);
