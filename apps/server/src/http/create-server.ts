import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import type { CallContext } from '../operations/call.ts';
import { batchByTick, batchByTimer } from './batching.ts';
import { createRespond, type RespondOptions } from './respond.ts';
import type { PortRoutes } from './routes.ts';

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

const SHARE_OF_SOCKETS: Record<PortRoutes, number> = { all: 1, public: 0.75, admin: 0.25 };

// Longer than the 60 s of common load balancers, so that this side never closes a connection that
// the balancer is about to use.
const KEEP_ALIVE_TIMEOUT = 65_000;

// With Node's default of 30 s, a timeout of 10 s could take up to 40 s.
const CHECKING_INTERVAL = 1_000;

export function createHttpServer(callContext: CallContext, options: HttpOptions): Server {
  const { log, timeouts, routes, draining } = options;
  const server = createServer({
    headersTimeout: timeouts.headers,
    requestTimeout: timeouts.request,
    connectionsCheckingInterval: CHECKING_INTERVAL,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // Checked together with a second Host.
    requireHostHeader: false,
  });
  limitSockets(server, log, SHARE_OF_SOCKETS[routes]);
  const order = orderRequests();
  const batch = callContext.service.store.kind === 'sqlite' ? batchByTick : batchByTimer();
  const respond = createRespond(callContext, options, () => draining.aborted || !server.listening);

  const listener =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      order.startAfterEarlier(request.socket, response, () => {
        const startedAt = performance.now();
        void batch(async () => {
          const received = { request, response, expectsContinue, startedAt };
          const { closesConnection } = await respond(received);
          if (closesConnection) order.finish(request.socket);
          limitSending(response, timeouts);
        });
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
  // By now the operating system has taken nearly every response.
  if (response.writableLength === 0) return;
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

// The database and its pool of up to 100 connections, the log, the program itself.
const RESERVED_FILES = 256;

// At worst: headers and a body of 16 KiB each with their objects, waiting requests, and an unsent
// response. Connections may take half of the heap.
const BYTES_PER_CONNECTION = 256 * 1024;
const SHARE_OF_HEAP = 0.5;

const WARNING_INTERVAL_MS = 60_000;

/** Each connection is a file. Without a free one, the service could not reach its database. */
function limitSockets(server: Server, log: Logger, share: number): void {
  const files = openFilesLimit();
  const byFiles = files - Math.min(RESERVED_FILES, Math.floor(files / 2));
  const { heap_size_limit } = getHeapStatistics();
  const byMemory = Math.floor((heap_size_limit * SHARE_OF_HEAP) / BYTES_PER_CONNECTION);
  server.maxConnections = Math.floor(Math.min(byFiles, byMemory) * share);
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    // A client that opens so many connections would fill the log too.
    if (performance.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = performance.now();
    log.warn({ connections: server.maxConnections }, 'too many connections: new ones are closed');
  });
}

/** RLIMIT_NOFILE; infinite if there is none or it is unknown. */
export function openFilesLimit(): number {
  try {
    const [, limit] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
