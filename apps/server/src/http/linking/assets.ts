import { hash } from 'node:crypto';
import { send } from '../response.ts';
import type { Route } from '../router.ts';
import { pageScript } from './theme/script.ts';
import { stylesheet } from './theme/stylesheet.ts';

export interface PageAssets {
  readonly style: string;
  readonly script: string;
  readonly routes: readonly Route[];
}

export function createPageAssets(color: string): PageAssets {
  const style = asset('/link/assets/page.css', 'text/css; charset=UTF-8', stylesheet(color));
  const script = asset('/link/assets/page.js', 'text/javascript; charset=UTF-8', pageScript);
  return { style: style.url, script: script.url, routes: [style.route, script.route] };
}

/** A file under an address of its own for each content. */
export function asset(path: string, type: string, content: string): { url: string; route: Route } {
  const version = `v=${hash('sha256', content, 'base64url').slice(0, 16)}`;
  const body = Buffer.from(content);
  return {
    url: `${path}?${version}`,
    route: {
      method: 'GET',
      path,
      handle(context, _, query) {
        send(context, 200, type, body, {
          // During an update, a page of one version may ask the other. That copy must not stay in a
          // cache.
          'Cache-Control': query === version ? 'public, max-age=31536000, immutable' : 'no-cache',
          'X-Content-Type-Options': 'nosniff',
        });
      },
    },
  };
}
