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

// From here on, idle connections are closed for new ones. The rest is for those that arrive before the
// idle ones have closed.
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
 * So an idle connection is closed for a new one: one of the same address if that has its share, and near
 * the limit the one that has been idle for longest.
 */
export function limitConnections(
  server: Server,
  { log, routes, trustProxy }: { log: Logger; routes: PortRoutes; trustProxy: boolean },
): void {
  const most = Math.floor(mostConnections() * SHARE_OF_CONNECTIONS[routes]);
  server.maxConnections = most;
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT;
  // Behind a proxy, all callers have its address.
  const perAddress = trustProxy ? Number.POSITIVE_INFINITY : shareOfAddress(server);
  const all: Connections = { open: new Set(), idle: new Set() };
  const byAddress = new Map<string, Connections>();
  const tracked = new WeakMap<Socket, Tracked>();

  server.prependListener('connection', (socket: Socket) => {
    const address = addressKey(socket.remoteAddress);
    const ofAddress = byAddress.get(address) ?? { open: new Set(), idle: new Set() };
    if (ofAddress.open.size >= perAddress && !closeOldest(ofAddress)) {
      socket.destroy();
      server.emit('drop');
      return;
    }
    if (all.open.size >= most * NEAR_LIMIT) closeOldest(all);
    byAddress.set(address, ofAddress);
    const counts = [all, ofAddress];
    tracked.set(socket, { requests: 0, counts });
    for (const { open, idle } of counts) {
      open.add(socket);
      idle.add(socket);
    }
    server.keepAliveTimeout = keepAliveTimeout();
    socket.once('close', () => {
      for (const { open, idle } of counts) {
        open.delete(socket);
        idle.delete(socket);
      }
      // Meanwhile, new connections of this address may have started a new count.
      if (ofAddress.open.size === 0 && byAddress.get(address) === ofAddress)
        byAddress.delete(address);
      server.keepAliveTimeout = keepAliveTimeout();
    });
  });

  const keepAliveTimeout = () =>
    all.open.size < most * NEAR_LIMIT ? KEEP_ALIVE_TIMEOUT : SHORT_KEEP_ALIVE_TIMEOUT;

  const track = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const connection = tracked.get(socket);
    if (connection === undefined) return;
    connection.requests += 1;
    for (const { idle } of connection.counts) idle.delete(socket);
    response.once('close', () => {
      connection.requests -= 1;
      if (connection.requests > 0) return;
      for (const { open, idle } of connection.counts) if (open.has(socket)) idle.add(socket);
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, track);

  warnOfDrops(server, log);
}

interface Connections {
  readonly open: Set<Socket>;
  /** Those without a running request. The first one is idle for longest. */
  readonly idle: Set<Socket>;
}

interface Tracked {
  /** How many are running. */
  requests: number;
  /** Where it is counted. */
  readonly counts: readonly Connections[];
}

/** @returns false if none is idle */
function closeOldest({ open, idle }: Connections): boolean {
  const [oldest] = idle;
  if (oldest === undefined) return false;
  // Not counted from now on, though it closes a little later.
  open.delete(oldest);
  idle.delete(oldest);
  oldest.destroy();
  return true;
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
