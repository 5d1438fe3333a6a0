import { openApiDocument } from '../../openapi/document.ts';
import type { RequestContext } from '../request-context.ts';
import { JSON_TYPE, send } from '../response.ts';
import type { Route } from '../router.ts';
import { type Asset, assets } from './assets.ts';
import { docsPage } from './docs-page.ts';
import { errorsPage } from './errors-page.ts';

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
  const handle = (context: RequestContext) =>
    send(context, 200, 'text/html; charset=UTF-8', html, PAGE_HEADERS);
  return { method: 'GET', path, handle };
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

function redirect(path: string, location: string): Route {
  const handle = (context: RequestContext) =>
    send(context, 303, 'text/plain; charset=UTF-8', '', { Location: location });
  return { method: 'GET', path, handle };
}

export function docsRoutes(publicUrl: string | null): Route[] {
  // Kept as text: serializing it takes a hundred times as long as sending it.
  let openApi: string | undefined;
  const docs = `${publicUrl ?? ''}/docs`;
  return [
    redirect('/', docs),
    redirect('/docs/', docs),
    {
      method: 'GET',
      path: '/openapi.json',
      handle(context) {
        openApi ??= JSON.stringify(openApiDocument()).slice(1);
        const servers = JSON.stringify([{ url: context.publicUrl }]);
        send(context, 200, JSON_TYPE, `{"servers":${servers},${openApi}`);
      },
    },
    page('/docs', docsPage),
    page('/docs/errors', errorsPage),
    ...assets.map(asset),
  ];
}
