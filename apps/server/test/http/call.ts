import { type OperationContract, type OperationName, operations } from '@latchkey/schema';

// biome-ignore lint/suspicious/noExplicitAny: the tests check what a server sends, member by member
export type Json = any;

export interface Request {
  method: string;
  /** With the query. */
  path: string;
  authorization?: string | undefined;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
  json: Json;
}

export async function send({ url }: { url: string }, request: Request): Promise<HttpResponse> {
  const { method, path, authorization, headers, body } = request;
  const response = await fetch(url + path, {
    method,
    headers: { ...(authorization !== undefined && { authorization }), ...headers },
    ...(body !== undefined && { body }),
    redirect: 'manual',
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json');
  const json = isJson && text !== '' ? JSON.parse(text) : undefined;
  return { status: response.status, headers: response.headers, text, json };
}

export const JSON_TYPE = { 'content-type': 'application/json' };

/** What a browser asks before a page of another origin may call. */
export const preflight = (path: string): Request => ({
  method: 'OPTIONS',
  path,
  headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
});

export type Wire = 'REST' | 'tRPC';
export const wires: Wire[] = ['REST', 'tRPC'];

/** The request for an operation over a wire. */
export function requestOf(
  wire: Wire,
  name: OperationName,
  input: Record<string, unknown> = {},
): Request {
  return wire === 'REST' ? restRequest(name, input) : trpcRequest(name, input);
}

function restRequest(name: OperationName, input: Record<string, unknown>): Request {
  const { method, path }: OperationContract = operations[name];
  const rest = { ...input };
  const filled = path.replace(/\{(\w+)\}/g, (_, member: string) => {
    const value = String(rest[member]);
    delete rest[member];
    return encodeURIComponent(value);
  });
  if (Object.keys(rest).length === 0) return { method, path: filled };
  if (method === 'GET') {
    const query = new URLSearchParams(rest as Record<string, string>);
    return { method, path: `${filled}?${query}` };
  }
  return { method, path: filled, headers: JSON_TYPE, body: JSON.stringify(rest) };
}

function trpcRequest(name: OperationName, input: Record<string, unknown>): Request {
  const text = JSON.stringify(input);
  return operations[name].method === 'GET'
    ? { method: 'GET', path: `/trpc/${name}?input=${encodeURIComponent(text)}` }
    : { method: 'POST', path: `/trpc/${name}`, headers: JSON_TYPE, body: text };
}

/** Calls an operation. `body` is its result or its error, without the envelope of the wire. */
export async function invoke(
  server: { url: string },
  wire: Wire,
  name: OperationName,
  input: Record<string, unknown>,
  authorization: string | undefined,
): Promise<HttpResponse & { body: Json }> {
  const response = await send(server, { ...requestOf(wire, name, input), authorization });
  return { ...response, body: unwrapped(wire, response.json) };
}

/** Takes the object of the operation out of the envelope of `docs/protocol/README.md#trpc`. */
export function unwrapped(wire: Wire, json: Json): Json {
  if (wire === 'REST') return json;
  if (json.error === undefined) return json.result.data;
  const { code: _code, httpStatus: _status, path: _path, ...body } = json.error.data;
  return body;
}

/** Calls an operation over REST, expects it to succeed and returns its result. */
export async function succeed(
  server: { url: string },
  name: OperationName,
  input: Record<string, unknown>,
  authorization: string,
): Promise<Json> {
  const { status, text, body } = await invoke(server, 'REST', name, input, authorization);
  if (status !== 200) throw new Error(`${name} responded with ${status}: ${text}`);
  return body;
}

/** The headers of the response, without those about the connection or the length, or for other origins. */
export function headersOf({ headers }: HttpResponse): Record<string, string> {
  const aside = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
  const isAside = (name: string) => aside.includes(name) || name.startsWith('access-control-');
  return Object.fromEntries([...headers].filter(([name]) => !isAside(name)));
}
