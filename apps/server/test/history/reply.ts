import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import type { Json, Request } from '../http/call.ts';

export type Reply =
  | { status: number; headers: IncomingHttpHeaders; text: string; json: Json }
  /** There was nobody at that address, so nothing was sent. */
  | 'refused'
  /** The request may have been sent, and arrived, and been answered: nobody knows. */
  | 'lost';

const agent = new Agent({ keepAlive: true });

/**
 * Sends a request and waits for its answer.
 *
 * @param options.cutAfter - destroys the connection that many milliseconds after the request was sent
 * @param options.patience - gives up after that many milliseconds
 */
export function replyTo(
  url: string,
  { method, path, authorization, headers, body }: Request,
  options: { cutAfter: number | null; patience: number },
): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const outgoing = request(url + path, {
    method,
    agent,
    headers: { ...headers, ...(authorization !== undefined && { authorization }) },
  });
  const giveUp = setTimeout(() => outgoing.destroy(), options.patience);
  promise.finally(() => clearTimeout(giveUp));

  outgoing.on('finish', () => {
    if (options.cutAfter !== null) setTimeout(() => outgoing.destroy(), options.cutAfter);
  });
  outgoing.on('response', (incoming) => {
    const parts: Buffer[] = [];
    incoming.on('data', (part: Buffer) => parts.push(part));
    incoming.on('end', () => {
      const text = Buffer.concat(parts).toString();
      const { statusCode: status = 0, headers: received } = incoming;
      resolve({ status, headers: received, text, json: parse(text) });
    });
    incoming.on('error', () => resolve('lost'));
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) =>
    resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'lost'),
  );
  // Whatever ends a request ends with this; after an answer it changes nothing.
  outgoing.on('close', () => resolve('lost'));
  outgoing.end(body);
  return promise;
}

/** Undefined for what is no JSON: then there is no object of `docs/protocol` in it. */
function parse(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
