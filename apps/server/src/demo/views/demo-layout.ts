import { html } from '../../http/html.ts';
import { asset } from '../../http/linking/assets.ts';
import { layout } from '../../http/linking/views/layout.ts';
import type { Page, PageFrame, PageParts } from '../../http/linking/views/page.ts';
import { demoStyle } from '../demo-style.ts';
import { demoPaths } from '../linking-demo.ts';

export const styleOfDemo = asset(demoPaths.style, 'text/css; charset=UTF-8', demoStyle);

export function demoLayout(frame: PageFrame, { body, ...parts }: PageParts): Page {
  const sheet = html`<link rel="stylesheet" href="${frame.basePath}${styleOfDemo.url}">`;
  return layout(frame, { ...parts, body: html`${sheet}\n${body}` });
}
