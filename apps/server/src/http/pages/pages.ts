import { openApiDocument } from '../../openapi/document.ts';
import { answer, answerJson } from '../answer.ts';
import type { Exchange } from '../exchange.ts';
import type { Route } from '../route.ts';
import { type Asset, assets } from './assets.ts';
import { docsPage } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';

// Everything comes from our own files; nothing on the page can load, run or send to anything else.
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PAGE_HEADERS = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

function page(path: string, html: string): Route {
  const handle = (exchange: Exchange) =>
    answer(exchange, 200, 'text/html; charset=UTF-8', html, PAGE_HEADERS);
  return { method: 'GET', path, handle };
}

function asset({ path, type, read }: Asset): Route {
  // The files change only with the version of the service; an hour spares most loads.
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=3600' };
  return {
    method: 'GET',
    path,
    async handle(exchange) {
      answer(exchange, 200, type, await read(), headers);
    },
  };
}

/** The documentation that the service serves of itself. */
export function pageRoutes(): Route[] {
  // Made when somebody asks: few do, and every start would wait for it.
  let document: ReturnType<typeof openApiDocument> | undefined;
  return [
    {
      method: 'GET',
      path: '/openapi.json',
      handle(exchange) {
        document ??= openApiDocument();
        answerJson(exchange, 200, { ...document, servers: [{ url: exchange.publicUrl }] });
      },
    },
    page('/docs', docsPage),
    page('/docs/errors', errorsPage),
    ...assets.map(asset),
  ];
}
