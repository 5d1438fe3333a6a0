import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { docsScript } from './docs-page.ts';
import { pageStyle } from './page-style.ts';

export interface Asset {
  path: string;
  type: string;
  read(): Promise<Buffer>;
}

const JAVASCRIPT = 'text/javascript; charset=UTF-8';
const CSS = 'text/css; charset=UTF-8';

// The build copies the files: as a dependency, swagger-ui-dist would add 12 MB and an install
// script that sends telemetry.
const copies = new URL('./swagger-ui/', import.meta.url);

function fromSwaggerUi(name: string): () => Promise<Buffer> {
  let content: Promise<Buffer> | undefined;
  return () => {
    content ??= readFile(
      existsSync(copies)
        ? new URL(name, copies)
        : createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`),
    );
    // The next request retries a failed read, such as one without a free file descriptor.
    content.catch(() => {
      content = undefined;
    });
    return content;
  };
}

function fromText(text: string): () => Promise<Buffer> {
  const content = Buffer.from(text);
  return async () => content;
}

export const assets: Asset[] = [
  { path: '/docs/page.css', type: CSS, read: fromText(pageStyle) },
  { path: '/docs/open.js', type: JAVASCRIPT, read: fromText(docsScript) },
  { path: '/docs/swagger-ui.css', type: CSS, read: fromSwaggerUi('swagger-ui.css') },
  {
    path: '/docs/swagger-ui-bundle.js',
    type: JAVASCRIPT,
    read: fromSwaggerUi('swagger-ui-bundle.js'),
  },
];
