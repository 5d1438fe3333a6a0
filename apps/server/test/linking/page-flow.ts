import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { type LinkingApplication, PUBLIC_URL } from './link-flow.ts';

/** A request for a page, and where it is on the server: its address without PUBLIC_URL. */
export interface PageRequest {
  method?: string;
  cookie?: string | undefined;
  headers?: Record<string, string>;
  /** The parameters of a form. */
  form?: Record<string, string> | [name: string, value: string][];
  body?: string;
}

/** Requests a page like a browser that does not follow redirects by itself. */
export async function visit(
  { url }: { url: string },
  path: string,
  { method, cookie, headers, form, body }: PageRequest = {},
) {
  const content = form === undefined ? body : new URLSearchParams(form).toString();
  const response = await fetch(url + path, {
    method: method ?? (content === undefined ? 'GET' : 'POST'),
    headers: {
      ...(cookie !== undefined && { cookie }),
      ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
      ...headers,
    },
    ...(content !== undefined && { body: content }),
    redirect: 'manual',
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

/** What a page that was opened consists of. */
export interface OpenPage {
  /** On the server, without PUBLIC_URL. */
  path: string;
  /** For the Cookie header. */
  cookie: string;
  form_token: string;
}

/** An address of a page, as a path on the server. */
export function pathOf(url: string): string {
  if (!url.startsWith(PUBLIC_URL)) throw new Error(`${url} is not under PUBLIC_URL.`);
  return url.slice(PUBLIC_URL.length);
}

export const formTokenIn = (page: string): string =>
  /name="form_token" value="([^"]+)"/.exec(page)?.[1] ?? '';

/** Opens the page of a ticket. */
export async function open(server: { url: string }, url: string): Promise<OpenPage> {
  const { headers } = await visit(server, pathOf(url));
  const [cookie = ''] = (headers.get('set-cookie') ?? '').split(';');
  const [path = ''] = pathOf(headers.get('location') ?? '').split('?');
  const { text } = await visit(server, path, { cookie });
  return { path, cookie, form_token: formTokenIn(text) };
}

/** Begins a link, identifies the account, and opens the consent page. */
export async function openConsent(
  server: { url: string },
  { begin, account_id }: LinkingApplication,
  changes: Record<string, string | undefined> = {},
): Promise<OpenPage & { link: string; link_id: string; url: string }> {
  const { link, link_id } = await begin(changes);
  const url = await identify(server, link, { account_id });
  return { ...(await open(server, url)), link, link_id, url };
}

/** The address that opens the consent page of a link. */
export async function identify(
  server: { url: string },
  link: string,
  { account_id, locale }: { account_id: string; locale?: string },
): Promise<string> {
  const input = { link, account_id, ...(locale !== undefined && { locale }) };
  const identified = await succeed(server, 'admin.links.identify', input, operator);
  return identified.redirect_to;
}

/** Makes and opens the page of connections of an account. */
export async function openConnections(
  server: { url: string },
  account_id: string,
  more: Record<string, string> = {},
): Promise<OpenPage & { url: string }> {
  const input = { page: 'connections', account_id, ...more };
  const { url } = await succeed(server, 'admin.pages.create', input, operator);
  return { ...(await open(server, url)), url };
}
