import { html } from '../../html.ts';
import { logoOrigin } from './logo.ts';
import type { Page, PageFrame, PageParts } from './page.ts';

export function layout(
  frame: PageFrame,
  { title, body, logos, leadsAway = false }: PageParts,
): Page {
  const { theme, texts, basePath, assets } = frame;
  const page = html`<!doctype html>
<html lang="${texts.language}" dir="${texts.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${title} · ${theme.name}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${basePath}${assets.style}">
<script src="${basePath}${assets.script}"></script>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  const origins = logos.map(logoOrigin).filter((origin) => origin !== null);
  return { html: page.toString(), logoOrigins: [...new Set(origins)], leadsAway };
}
