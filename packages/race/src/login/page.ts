import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { isLoopback } from '../hosts.ts';
import { urlOf, WrongOption } from '../wrong-option.ts';
import type { Login } from './login.ts';

/** A login by a person. */
export interface PageLogin {
  /** The page to open. */
  url: string;
  login: Login;
  close(): Promise<void>;
}

/** Browsers give up on a response after some minutes. */
const LONGEST_WAIT_MS = 20_000;

/**
 * Listens at the redirect URI, and sends the browser that opens the page from one authorization request
 * to the next.
 *
 * @throws WrongOption
 */
export async function startPageLogin(redirectUri: string): Promise<PageLogin> {
  const callback = urlOf(redirectUri, '--redirect-uri');
  if (callback.protocol !== 'http:' || !isLoopback(callback) || callback.port === '') {
    throw new WrongOption(
      '--login-page needs a --redirect-uri such as http://127.0.0.1:8976/callback.',
    );
  }
  const waiting = new Set<ServerResponse>();
  let next: string | null = null;
  let codes = 0;
  let arrived: (url: string) => void = () => undefined;

  function leadOn(): void {
    const [response] = waiting;
    if (next === null || response === undefined) return;
    waiting.delete(response);
    response.writeHead(302, { location: next }).end();
    next = null;
  }

  const server = createServer((request, response) => {
    const target = request.url ?? '/';
    // Any page in the browser can send it anything.
    if (!URL.canParse(target, callback.href)) return void response.writeHead(404).end();
    const url = new URL(target, callback);
    response.setHeader('cache-control', 'no-store');
    if (url.pathname === callback.pathname && url.search !== '') {
      arrived(url.href);
      codes++;
      return show(response, `${codes} codes so far. The next one follows.`);
    }
    if (url.pathname !== '/') return void response.writeHead(404).end();
    waiting.add(response);
    const timer = setTimeout(() => {
      if (waiting.delete(response)) show(response, 'Waiting for the next request.');
    }, LONGEST_WAIT_MS);
    response.on('close', () => {
      clearTimeout(timer);
      waiting.delete(response);
    });
    leadOn();
  });
  server.listen(Number(callback.port), callback.hostname.replace(/^\[|\]$/g, ''));
  await once(server, 'listening').catch((error) => {
    throw new WrongOption(`Nothing can listen at ${callback.host}: ${error.code}.`);
  });
  const { address, port } = server.address() as { address: string; port: number };

  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${port}/`,
    login(authorizationUrl) {
      const url = new Promise<string>((resolve) => {
        arrived = resolve;
      });
      next = authorizationUrl;
      leadOn();
      return url;
    },
    async close() {
      for (const response of waiting) response.end('That was the last code. Close this page.');
      server.close();
      server.closeAllConnections();
      if (server.listening) await once(server, 'close');
    },
  };
}

function show(response: ServerResponse, text: string): void {
  response.setHeader('content-type', 'text/html; charset=utf-8');
  // Not a redirect: browsers stop a long chain of them.
  response.end(`<!doctype html><meta http-equiv="refresh" content="0; url=/"><p>${text}`);
}
