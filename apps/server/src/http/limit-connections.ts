import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import { addressKey } from '@latchkey/rules/limits/limit';
import type { Logger } from 'pino';
import type { PortRoutes } from './routes.ts';

const SHARE_OF_CONNECTIONS: Record<PortRoutes, number> = { all: 1, public: 0.75, admin: 0.25 };

// The database and its pool of up to 100 connections, the log, the program itself.
const RESERVED_FILES = 256;

// At worst: headers and a body of 16 KiB each with their objects, waiting requests, and an unsent
// response. Connections may take half of the heap.
const BYTES_PER_CONNECTION = 256 * 1024;
const SHARE_OF_HEAP = 0.5;

// Enough for the connection pool of any caller. The other callers still have three quarters.
const SHARE_OF_ADDRESS = 0.25;

// From here on, connections that wait for their client are closed for new ones. The rest is for those that
// arrive before these have closed.
const NEAR_LIMIT = 0.875;

// Longer than the 60 s of common load balancers, so that this side never closes a connection that
// the balancer is about to use.
const KEEP_ALIVE_TIMEOUT = 65_000;
const SHORT_KEEP_ALIVE_TIMEOUT = 5_000;

const WARNING_INTERVAL_MS = 60_000;

/** How many of a server's connections one address may hold. */
export const shareOfAddress = ({ maxConnections }: Server): number =>
  Math.max(1, Math.floor(maxConnections * SHARE_OF_ADDRESS));

/**
 * Each connection uses a file descriptor. Without a free one, the service could not reach its database.
 * So a connection is closed for a new one: an idle one of the same address if that has its share, and near
 * the limit the one that has waited for longest for its client, whose body may be unfinished, or which does
 * not read its response. One whose client hangs up is counted until its request was handled.
 *
 * @returns whose request is being handled, and what to call behind that where the client has hung up, or where the
 *   response is left to it to read
 */
export function limitConnections(
  server: Server,
  { log, routes, trustProxy }: { log: Logger; routes: PortRoutes; trustProxy: boolean },
): { handled: Map<Socket, ServerResponse>; leave(this: void, socket: Socket): void } {
  const most = Math.floor(mostConnections() * SHARE_OF_CONNECTIONS[routes]);
  server.maxConnections = most;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  // Behind a proxy, all callers have its address.
  const perAddress = trustProxy ? Number.POSITIVE_INFINITY : shareOfAddress(server);
  const byAddress = new Map<string, Connections>();
  const open = new Set<Socket>();
  /** Those that may wait for their client: for a request, its rest, or a reader. The first one for longest. */
  const waiting = new Set<Socket>();
  const handled = new Map<Socket, ServerResponse>();
  const tracked = new WeakMap<Socket, Tracked>();

  server.prependListener('connection', (socket: Socket) => {
    const { remoteAddress } = socket;
    const ofAddresses = new Map<string, Connections>();
    // Who has a /48 has 65,536 of the /64.
    for (const name of [addressKey(remoteAddress), addressKey(remoteAddress, 48)]) {
      ofAddresses.set(name, byAddress.get(name) ?? { open: new Set(), idle: new Set() });
    }
    for (const { open, idle } of ofAddresses.values()) {
      if (open.size < perAddress || closeFirst(idle)) continue;
      socket.destroy();
      server.emit('drop');
      return;
    }
    if (open.size >= most * NEAR_LIMIT) closeFirst(waitingForClient());
    if (open.size >= most) {
      socket.destroy();
      server.emit('drop');
      return;
    }
    open.add(socket);
    waiting.add(socket);
    for (const [name, each] of ofAddresses) {
      byAddress.set(name, each);
      each.open.add(socket);
      each.idle.add(socket);
    }
    server.keepAliveTimeout = keepAliveTimeout();
    const forget = () => {
      waiting.delete(socket);
      if (handled.has(socket)) return;
      open.delete(socket);
      for (const [name, each] of ofAddresses) {
        each.open.delete(socket);
        each.idle.delete(socket);
        // Meanwhile, new connections of this address may have started a new count.
        if (each.open.size === 0 && byAddress.get(name) === each) byAddress.delete(name);
      }
      server.keepAliveTimeout = keepAliveTimeout();
    };
    tracked.set(socket, {
      requests: 0,
      latest: null,
      ofAddresses: [...ofAddresses.values()],
      forget,
    });
    socket.once('close', forget);
  });

  /** @returns false if there is none */
  function closeFirst(sockets: Iterable<Socket>): boolean {
    for (const socket of sockets) {
      // Not counted from now on, though it closes a little later, unless its request is being handled.
      tracked.get(socket)?.forget();
      socket.destroy();
      return true;
    }
    return false;
  }

  /** Those without a request that has arrived whole, and those whose response is not read. */
  function* waitingForClient(): Generator<Socket> {
    for (const socket of waiting) {
      const { requests = 0, latest } = tracked.get(socket) ?? {};
      if (requests === 0 || !latest?.complete || socket.writableLength > 0) yield socket;
      waiting.delete(socket);
    }
  }

  const keepAliveTimeout = () =>
    open.size < most * NEAR_LIMIT ? KEEP_ALIVE_TIMEOUT : SHORT_KEEP_ALIVE_TIMEOUT;

  const track = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const connection = tracked.get(socket);
    if (connection === undefined || !open.has(socket)) return;
    // A pipelined request makes no connection younger that waits for its client to read.
    if (connection.requests === 0) waiting.delete(socket);
    waiting.add(socket);
    connection.requests += 1;
    connection.latest = request;
    for (const { idle } of connection.ofAddresses) idle.delete(socket);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests > 0 || socket.destroyed || !open.has(socket)) return;
      connection.latest = null;
      for (const { idle } of connection.ofAddresses) idle.add(socket);
      waiting.delete(socket);
      waiting.add(socket);
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, track);

  warnOfDrops(server, log);

  function leave(socket: Socket): void {
    if (socket.destroyed) tracked.get(socket)?.forget();
    if (!open.has(socket)) return;
    waiting.delete(socket);
    waiting.add(socket);
  }
  return { handled, leave };
}

interface Connections {
  readonly open: Set<Socket>;
  /** Those without a running request. The first one is idle for longest. */
  readonly idle: Set<Socket>;
}

interface Tracked {
  /** How many are running. */
  requests: number;
  /** Of these. */
  latest: IncomingMessage | null;
  /** Where it is counted. */
  readonly ofAddresses: readonly Connections[];
  forget(this: void): void;
}

function warnOfDrops(server: Server, log: Logger): void {
  let warnedAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    // A client that opens so many connections would fill the log too.
    if (performance.now() - warnedAt < WARNING_INTERVAL_MS) return;
    warnedAt = performance.now();
    log.warn({ connections: server.maxConnections }, 'too many connections: new ones are closed');
  });
}

function mostConnections(): number {
  const files = openFilesLimit();
  const byFiles = files - Math.min(RESERVED_FILES, Math.floor(files / 2));
  const { heap_size_limit } = getHeapStatistics();
  return Math.min(byFiles, (heap_size_limit * SHARE_OF_HEAP) / BYTES_PER_CONNECTION);
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
