import { DomainError } from '@latchkey/domain/domain-error';
import { ownLocation } from '@latchkey/rules/linking/redirect';
import { openApiDocument } from '../../openapi/document.ts';
import { errorStatus } from '../error-response.ts';
import { html } from '../html.ts';
import type { CheckReadiness } from '../monitoring-routes.ts';
import type { Headers, RequestContext } from '../request-context.ts';
import { asksForPage } from '../request-metadata.ts';
import { JSON_TYPE, send } from '../response.ts';
import type { Route } from '../router.ts';
import { type Asset, assets } from './assets.ts';
import { docsLayout } from './docs-layout.ts';
import { docsPage } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';
import { type Door, homePage } from './home-page.ts';

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
  const body = Buffer.from(html);
  const handle = (context: RequestContext) =>
    send(context, 200, 'text/html; charset=UTF-8', body, PAGE_HEADERS);
  return { method: 'GET', path, handle };
}

/** Without a linking flow, a person is a developer: there are no other pages. */
export function sendNotFound(context: RequestContext, error: DomainError): void {
  const content = html`<main><h1>This page does not exist</h1><p>${error.message}</p></main>`;
  const page = docsLayout({ title: 'Latchkey: not found', root: null, body: content });
  send(context, errorStatus(context, error), 'text/html; charset=UTF-8', page, PAGE_HEADERS);
}

function asset({ path, type, read }: Asset): Route {
  // The files change only with the version of the service. An hour avoids most repeated loads.
  const headers = { ...PAGE_HEADERS, 'Cache-Control': 'public, max-age=3600' };
  return {
    method: 'GET',
    path,
    async handle(context) {
      send(context, 200, type, await read(), headers);
    },
  };
}

function sendDocs(context: RequestContext, url: string | null, headers: Headers = {}): void {
  const publicUrl = url ?? '';
  const Location = ownLocation({ publicUrl }, `${publicUrl}/docs`);
  send(context, 303, 'text/plain; charset=UTF-8', '', { Location, ...headers });
}

interface HomeOptions {
  readonly publicUrl: string | null;
  readonly hasLinking: boolean;
  readonly checkReadiness: CheckReadiness;
}

/** A program is sent to the documentation. A person is told what this is. */
export function homeRoute(
  { publicUrl, hasLinking, checkReadiness }: HomeOptions,
  demo: Door | null = null,
): Route {
  return {
    method: 'GET',
    path: '/',
    async handle(context) {
      if (!asksForPage(context.request)) return sendDocs(context, publicUrl, BY_ACCEPT);
      const problem = await checkReadiness().then(() => null, DomainError.from);
      const page = homePage({ problem, hasLinking }, demo);
      send(context, 200, 'text/html; charset=UTF-8', page, { ...PAGE_HEADERS, ...BY_ACCEPT });
    },
  };
}

const BY_ACCEPT = { Vary: 'Accept' };

function openApi(path: string, describe: () => object): Route {
  // Kept: serializing it takes a hundred times as long as sending it.
  let rest: Buffer | undefined;
  return {
    method: 'GET',
    path,
    handle(context) {
      rest ??= Buffer.from(JSON.stringify(describe()).slice(1));
      const servers = JSON.stringify([{ url: context.publicUrl() }]);
      send(context, 200, JSON_TYPE, [`{"servers":${servers},`, rest]);
    },
  };
}

/** The document without the operations that settings turn off, or that another port has. */
function documentOf(others: readonly Route[]): object {
  const served = new Set(others.map(({ method, path }) => `${method} ${path}`));
  const document = openApiDocument();
  const paths = Object.entries(document.paths).map(([path, methods]) => {
    const kept = Object.entries(methods).filter(([method]) =>
      served.has(`${method.toUpperCase()} ${path}`),
    );
    return [path, Object.fromEntries(kept)] as const;
  });
  return {
    ...document,
    paths: Object.fromEntries(paths.filter(([, methods]) => Object.keys(methods).length > 0)),
  };
}

/** @param others - the other routes of the port, which the page shows */
export function docsRoutes(publicUrl: string | null, others: readonly Route[]): Route[] {
  return [
    { method: 'GET', path: '/docs/', handle: (context) => sendDocs(context, publicUrl) },
    openApi('/openapi.json', openApiDocument),
    openApi('/docs/openapi.json', () => documentOf(others)),
    page('/docs', docsPage),
    page('/docs/errors', errorsPage),
    ...assets.map(asset),
  ];
}
