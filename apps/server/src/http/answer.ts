import type { Exchange } from './exchange.ts';

/** What an answer has in its header section beyond what all have. */
export type Headers = Record<string, string>;

const JSON_TYPE = 'application/json; charset=UTF-8';

/** Answers with JSON: exactly the type of the contract, and never to be stored. */
export function answerJson(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers?: Headers,
): void {
  answer(exchange, status, JSON_TYPE, JSON.stringify(body), headers);
}

/** Answers with a text, in one write with its length. */
export function answer(
  exchange: Exchange,
  status: number,
  type: string,
  body: string | Buffer,
  headers: Headers = {},
): void {
  const { request, response, requestId } = exchange;
  if (response.headersSent || response.destroyed) return;
  const unread = leavesUnread(exchange);
  exchange.isLast = unread || exchange.closing();
  response.writeHead(status, {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Request-Id': requestId,
    'Content-Length': Buffer.byteLength(body),
    ...(exchange.isLast ? { Connection: 'close' } : undefined),
    ...headers,
  });
  if (unread && request.method !== 'HEAD') linger(exchange, body);
  else response.end(body);
}

// A body that was not read and is larger than any we take is not worth reading to its end to keep
// the connection. The size is twice the limit on bodies: what is over it by little is read over.
const WORTH_READING = 32 * 1024;

/** Whether more of the request is still to come than is read for the connection's sake. */
function leavesUnread({ request, expectsContinue }: Exchange): boolean {
  if (request.complete) return false;
  if (expectsContinue) return true;
  const length = request.headers['content-length'];
  if (length === undefined) return request.headers['transfer-encoding'] !== undefined;
  return Number(length) > WORTH_READING;
}

// A caller that has its whole answer may go on sending until it pauses for so long, or has sent so
// much: many send all they have before they read a word. The request timeout bounds it too.
const LINGER_MILLISECONDS = 1000;
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * Sends the whole answer at once, but closes only when the caller has stopped sending: closing a
 * socket with unread bytes in it resets the connection, and the caller would never see the answer
 * (RFC 9112, section 9.6).
 */
function linger({ request, response }: Exchange, body: string | Buffer): void {
  let read = 0;
  const timer = setTimeout(end, LINGER_MILLISECONDS);
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
