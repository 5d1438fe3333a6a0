import { readFileSync } from 'node:fs';
import type { Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';

/** How long a client may take before its connection is closed, in milliseconds. */
export interface Timeouts {
  /** From the connection, or the first byte after the previous request, to the end of the headers. */
  headers: number;
  /** From the same moment to the end of the body. */
  request: number;
  /** From the response until the client has received all of it. */
  response: number;
}

// A request fits into a few packets: a client that needs longer is not sending one. The largest
// response is a 1.5 MB file of the documentation page: within a minute on a slow line.
export const TIMEOUTS: Timeouts = { headers: 10_000, request: 20_000, response: 60_000 };

// How often Node looks for slow clients. Its default of 30 s would turn a timeout of 10 s into one
// of up to 40 s.
const CHECKING_INTERVAL = 1_000;

/** The timeouts that Node enforces itself. */
export function requestTimeouts({ headers, request }: Timeouts): ServerOptions {
  return {
    headersTimeout: headers,
    requestTimeout: request,
    connectionsCheckingInterval: CHECKING_INTERVAL,
  };
}

/**
 * Closes the connection of a client that does not receive its response. Node has no timeout for
 * that: it would keep the connection and the unsent bytes for as long as the client likes.
 */
export function limitSending(response: ServerResponse, { response: timeout }: Timeouts): void {
  // The operating system has taken nearly every response by now.
  if (response.writableLength === 0) return;
  const timer = setTimeout(() => response.destroy(), timeout);
  response.once('close', () => clearTimeout(timer));
}

// How many pipelined requests may wait on a connection. Node has parsed them already, at some 3 KB
// each. HTTP clients that pipeline at all send a handful.
export const MAX_WAITING_REQUESTS = 64;

/** Orders the requests of each connection. */
export interface RequestOrder {
  /**
   * Starts a request once the response before it is sent: what a connection makes the service hold is
   * bounded by one response. Nothing starts behind a response that closes the connection. A
   * connection with too many waiting requests is closed.
   */
  startAfterEarlier(socket: Socket, response: ServerResponse, start: () => void): void;
  /**
   * Ignores what else arrives on a connection whose last response is decided: it would be handled and
   * its response lost (RFC 9112, section 9.6).
   */
  finish(socket: Socket): void;
}

interface Queue {
  current: ServerResponse;
  waiting: { response: ServerResponse; start: () => void }[];
  isFinished: boolean;
}

export function orderRequests(): RequestOrder {
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
 * Lets the rest of a chunk pass by. The parser goes on until its end, also on a destroyed socket, and
 * Node keeps a response for each request in it until the socket has closed: 2,400 of them fit into
 * the 64 KiB of one chunk, and 50 connections would fill a heap of 128 MB. Node has no public way to
 * stop it. Without this property (as of Node 24 it exists) the requests are merely not handled.
 */
function stopParsing(socket: Socket & { parser?: { onIncoming?: unknown } | null }): void {
  if (socket.parser?.onIncoming) socket.parser.onIncoming = () => 0;
}

// Open files that are no clients: the database and its pool of up to 100 connections, the log, the
// program itself.
const RESERVED_FILES = 256;

// What one connection may hold at its worst: headers and a body of 16 KiB each with the objects made
// of them, the requests that wait behind, and a response that is not sent yet. Connections may take
// half of the heap.
const BYTES_PER_CONNECTION = 256 * 1024;
const SHARE_OF_HEAP = 0.5;

const WARNING_INTERVAL_MS = 60_000;

/**
 * Bounds the number of connections by the files that the process may open and by its memory. Each
 * connection is a file, and without any left the service could not reach its database. A connection
 * over the limit is closed at once; the others are not affected.
 *
 * @param share - the server's share of what the process can hold
 */
export function limitSockets(server: Server, log: Logger, share: number): void {
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

/** The process's limit of open files (RLIMIT_NOFILE); infinite if there is none or it is not known. */
function openFilesLimit(): number {
  try {
    const [, limit] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(limit ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
