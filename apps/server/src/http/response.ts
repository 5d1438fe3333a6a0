import type { Location } from '@latchkey/rules/linking/redirect';
import { ClientGone } from '../operations/call.ts';
import type { Headers, RequestContext } from './request-context.ts';

export const JSON_TYPE = 'application/json; charset=UTF-8';

/** `docs/protocol/README.md#conventions` */
export function sendJson(
  context: RequestContext,
  status: number,
  body: unknown,
  headers?: Headers,
): void {
  send(context, status, JSON_TYPE, JSON.stringify(body), headers);
}

/** One that is the same for all is a Buffer: a text is copied for each client that does not read it. */
type Body = string | Buffer | readonly [start: string, rest: Buffer];

/** @param body - null if it follows in pieces */
export function send(
  context: RequestContext,
  status: number,
  type: string,
  body: Body | null,
  headers?: Headers,
): void {
  const { request, response, requestId, routeHeaders } = context;
  if (response.headersSent || response.destroyed) return;
  const unread = !request.complete && !isWorthReading(context);
  context.closesConnection = unread || context.isClosing();
  const fields: Headers = {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
  };
  const [start, rest] =
    body === null || typeof body === 'string' || Buffer.isBuffer(body) ? ['', body] : body;
  if (rest !== null) {
    fields['Content-Length'] = String(Buffer.byteLength(start) + Buffer.byteLength(rest));
  }
  if (context.closesConnection) fields.Connection = 'close';
  response.writeHead(status, Object.assign(fields, routeHeaders, headers));
  if (rest === null) return;
  if (start !== '') response.write(start);
  if (unread && request.method !== 'HEAD') linger(context, rest);
  else response.end(rest);
}

/** The browser follows with GET (RFC 9700, section 4.12). Its address may be secret: no Referer. */
export function sendRedirect(context: RequestContext, location: Location, headers?: Headers): void {
  send(context, 303, 'text/plain; charset=UTF-8', '', {
    Location: location,
    'Referrer-Policy': 'no-referrer',
    ...headers,
  });
}

/** Sends JSON in chunks. A failure after the first one breaks the connection: a normal end would look complete. */
export async function sendPieces(
  context: RequestContext,
  pieces: AsyncIterable<string>,
): Promise<void> {
  const { request, response } = context;
  try {
    for await (const piece of pieces) {
      if (response.destroyed) throw new ClientGone();
      if (!response.headersSent) send(context, 200, JSON_TYPE, null);
      if (request.method === 'HEAD') break;
      if (!response.write(piece)) await isTaken(context);
    }
  } catch (failure) {
    if (response.headersSent) response.destroy();
    throw failure;
  }
  const unread = context.closesConnection && !request.complete;
  if (unread && request.method !== 'HEAD') linger(context, '');
  else response.end();
}

/** Until the client has received what is written, or is gone. */
async function isTaken({ response, responseTimeout }: RequestContext): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => response.destroy(), responseTimeout);
  response.once('drain', resolve).once('close', resolve);
  await promise;
  clearTimeout(timer);
  response.off('drain', resolve).off('close', resolve);
}

/** Like Node's own parser: no body, and the connection is closed. */
export function sendBadRequest(context: RequestContext): void {
  context.closesConnection = true;
  context.response.writeHead(400, { Connection: 'close', 'Content-Length': 0 }).end();
}

// Reading more costs more than a new connection. Twice the limit on bodies, so that one slightly
// over it keeps its connection.
const WORTH_READING = 32 * 1024;

function isWorthReading({ request, expectsContinue }: RequestContext): boolean {
  if (expectsContinue) return false;
  const length = request.headers['content-length'];
  if (length === undefined) return request.headers['transfer-encoding'] === undefined;
  return Number(length) <= WORTH_READING;
}

// Many clients send everything before they read. They may go on until they pause for a second or
// have sent 16 MiB.
const LINGER_MILLISECONDS = 1000;
const LINGER_BYTES = 16 * 1024 * 1024;

/** A socket closed with unread bytes is reset, and the response lost (RFC 9112, section 9.6). */
function linger({ request, response }: RequestContext, body: string | Buffer): void {
  let read = 0;
  const timer = setTimeout(() => {
    // After a stall, timers run before what arrived meanwhile is read.
    const before = read;
    setImmediate(() => {
      if (read === before) end();
    });
  }, LINGER_MILLISECONDS);
  function end() {
    clearTimeout(timer);
    response.end();
  }
  request.removeAllListeners('data');
  request.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read > LINGER_BYTES) end();
    else timer.refresh();
  });
  request.once('end', end);
  request.once('close', end);
  response.write(body);
  request.resume();
}
