import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { CallContext } from '../operations/call.ts';
import { inBatchesByTick, inBatchesByTimer } from './batching.ts';
import { limitConnections } from './limit-connections.ts';
import { createRespond, type RespondOptions } from './respond.ts';

/** In milliseconds. */
export interface Timeouts {
  /** From the connection, or the first byte after the previous request, to the end of the headers. */
  headers: number;
  /** From the same moment to the end of the body. */
  request: number;
  /** From the response until the client has received all of it. */
  response: number;
}

// A request fits into a few packets. The largest response is 1.5 MB of documentation: within a
// minute on a slow line.
export const TIMEOUTS: Timeouts = { headers: 10_000, request: 20_000, response: 60_000 };

export interface HttpOptions extends RespondOptions {
  timeouts: Timeouts;
}

// With Node's default of 30 s, a timeout of 10 s could take up to 40 s.
const CHECKING_INTERVAL = 1_000;

export function createHttpServer(callContext: CallContext, options: HttpOptions): Server {
  const { log, timeouts, routes, draining, settings } = options;
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: CHECKING_INTERVAL,
    // Checked together with a second Host.
    requireHostHeader: false,
  });
  const { handled, leave } = limitConnections(server, {
    log,
    routes,
    trustProxy: settings.trustProxy,
  });
  const order = orderRequests();
  const inBatches = callContext.service.driver.inProcess ? inBatchesByTick : inBatchesByTimer;
  const respond = inBatches(
    createRespond(callContext, options, () => draining.aborted || !server.listening),
  );

  const listener =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      order.startAfterEarlier(request.socket, response, async () => {
        const startedAt = performance.now();
        const received = { request, response, expectsContinue, startedAt };
        const { socket } = request;
        handled.set(socket, response);
        const { closesConnection } = await respond(received);
        if (handled.get(socket) === response) handled.delete(socket);
        if (closesConnection) order.finish(socket);
        // By now the operating system has taken nearly every response.
        if (response.writableLength > 0) limitSending(response, timeouts);
        if (response.writableLength > 0 || socket.destroyed) leave(socket);
      });
  server.on('request', listener(false));
  server.on('checkContinue', listener(true));
  // RFC 9110, section 10.1.1, allows ignoring other expectations. Node's own 417 would lack the
  // body and headers of every other response.
  server.on('checkExpectation', listener(false));
  return server;
}

/** Node has no timeout for a client that does not receive its response. */
function limitSending(response: ServerResponse, { response: timeout }: Timeouts): void {
  const timer = setTimeout(() => response.destroy(), timeout);
  response.once('close', () => clearTimeout(timer));
}

// Pipelined requests on one connection, at some 3 KB each. Clients that pipeline at all send a
// handful.
export const MAX_WAITING_REQUESTS = 64;

interface RequestOrder {
  /** A connection holds at most one response. Nothing starts behind one that closes it. */
  startAfterEarlier(socket: Socket, response: ServerResponse, start: () => void): void;
  /** Later requests would be handled and their responses lost (RFC 9112, section 9.6). */
  finish(socket: Socket): void;
}

interface Queue {
  current: ServerResponse;
  waiting: { response: ServerResponse; start: () => void }[];
  isFinished: boolean;
}

function orderRequests(): RequestOrder {
  const queues = new WeakMap<Socket, Queue>();

  function startNext(socket: Socket, queue: Queue): void {
    const next = queue.waiting.shift();
    if (next === undefined || queue.isFinished || socket.destroyed) return;
    queue.current = next.response;
    next.response.once('close', () => startNext(socket, queue));
    next.start();
  }

  return {
    startAfterEarlier(socket, response, start) {
      const queue = queues.get(socket);
      if (queue === undefined) {
        queues.set(socket, { current: response, waiting: [], isFinished: false });
        start();
      } else if (!queue.isFinished) {
        const { current, waiting } = queue;
        if (current.writableFinished && waiting.length === 0) {
          queue.current = response;
          start();
        } else if (waiting.length === MAX_WAITING_REQUESTS) {
          queue.isFinished = true;
          waiting.length = 0;
          stopParsing(socket);
          socket.destroy();
        } else {
          waiting.push({ response, start });
          if (waiting.length === 1) current.once('close', () => startNext(socket, queue));
        }
      }
    },
    finish(socket) {
      const queue = queues.get(socket);
      if (queue !== undefined) queue.isFinished = true;
    },
  };
}

/**
 * Node parses a chunk to its end, even on a destroyed socket, and keeps a response for each request
 * in it: 2,400 fit into 64 KiB, so 50 connections would fill a heap of 128 MB. Node has no public
 * way to stop it. Without this property (Node 24 has it) the requests are merely not handled.
 */
function stopParsing(socket: Socket & { parser?: { onIncoming?: unknown } | null }): void {
  if (socket.parser?.onIncoming) socket.parser.onIncoming = () => 0;
}
