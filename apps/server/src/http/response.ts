import type { Headers, RequestContext } from './request-context.ts';

export const JSON_TYPE = 'application/json; charset=UTF-8';

/** Sends JSON with exactly the content type of `docs/protocol/README.md#conventions`. */
export function sendJson(
  context: RequestContext,
  status: number,
  body: unknown,
  headers?: Headers,
): void {
  send(context, status, JSON_TYPE, JSON.stringify(body), headers);
}

/** Sends a text in one write, with its length. */
export function send(
  context: RequestContext,
  status: number,
  type: string,
  body: string | Buffer,
  headers?: Headers,
): void {
  const { request, response, requestId, routeHeaders } = context;
  if (response.headersSent || response.destroyed) return;
  const unread = leavesUnread(context);
  context.closesConnection = unread || context.isClosing();
  const fields: Headers = {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'Content-Length': String(Buffer.byteLength(body)),
  };
  if (context.closesConnection) fields.Connection = 'close';
  response.writeHead(status, Object.assign(fields, routeHeaders, headers));
  if (unread && request.method !== 'HEAD') linger(context, body);
  else response.end(body);
}

/** Refuses a request like Node's own parser does: no body, and the connection is closed. */
export function sendBadRequest(context: RequestContext): void {
  context.closesConnection = true;
  context.response.writeHead(400, { Connection: 'close', 'Content-Length': 0 }).end();
}

// Reading a larger body to its end costs more than a new connection. Twice the limit on bodies, so
// that a body slightly over the limit keeps its connection.
const WORTH_READING = 32 * 1024;

/** Whether the rest of the request is more than is read to keep the connection. */
function leavesUnread({ request, expectsContinue }: RequestContext): boolean {
  if (request.complete) return false;
  if (expectsContinue) return true;
  const length = request.headers['content-length'];
  if (length === undefined) return request.headers['transfer-encoding'] !== undefined;
  return Number(length) > WORTH_READING;
}

// Many clients send everything before they read anything. A client that has its response may go on
// sending until it pauses for a second or has sent 16 MiB. The request timeout applies too.
const LINGER_MILLISECONDS = 1000;
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * Sends the whole response at once, but closes only when the client has stopped sending. Closing a
 * socket with unread bytes in it resets the connection, and the client would never see the response
 * (RFC 9112, section 9.6).
 */
function linger({ request, response }: RequestContext, body: string | Buffer): void {
  let read = 0;
  const timer = setTimeout(() => {
    // In a process that stalls, what has arrived meanwhile is only read after the timers.
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
