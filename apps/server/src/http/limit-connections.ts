import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import { addressKey } from '../limits/limit.ts';
import type { PortRoutes } from './routes.ts';

const SHARE_OF_CONNECTIONS: Record<PortRoutes, number> = { all: 1, public: 0.75, admin: 0.25 };

// The database and its pool of up to 100 connections, the log, the program itself.
const RESERVED_FILES = 256;

// At worst: headers and a body of 16 KiB each with their objects, waiting requests, and an unsent
// response. Connections may take half of the heap.
const BYTES_PER_CONNECTION = 256 * 1024;
const SHARE_OF_HEAP = 0.5;

// Enough for the pool of any caller, and the others still have three quarters.
const SHARE_OF_ADDRESS = 0.25;

// From here on, idle connections make room. The rest is for those that arrive before they have closed.
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
 * Each connection is a file. Without a free one, the service could not reach its database. So the idle
 * ones make room: of an address that has its share, or near the limit the one that is idle for longest.
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
  const all = new Connections();
  const byAddress = new Map<string, Connections>();
  const ofSocket = new WeakMap<Socket, Connections>();

  server.prependListener('connection', (socket: Socket) => {
    const address = addressKey(socket.remoteAddress);
    const ofAddress = byAddress.get(address) ?? new Connections();
    if (ofAddress.count >= perAddress && !ofAddress.closeOldest()) {
      socket.destroy();
      server.emit('drop');
      return;
    }
    if (all.count >= most * NEAR_LIMIT) all.closeOldest();
    byAddress.set(address, ofAddress);
    ofSocket.set(socket, ofAddress);
    for (const connections of [all, ofAddress]) connections.add(socket);
    server.keepAliveTimeout = keepAliveTimeout();
    socket.once('close', () => {
      for (const connections of [all, ofAddress]) connections.remove(socket);
      // The address may have begun anew before this one has closed.
      if (ofAddress.count === 0 && byAddress.get(address) === ofAddress) byAddress.delete(address);
      server.keepAliveTimeout = keepAliveTimeout();
    });
  });

  const keepAliveTimeout = () =>
    all.count < most * NEAR_LIMIT ? KEEP_ALIVE_TIMEOUT : SHORT_KEEP_ALIVE_TIMEOUT;

  const track = ({ socket }: IncomingMessage, response: ServerResponse) => {
    const both = [all, ofSocket.get(socket)];
    for (const connections of both) connections?.begin(socket);
    response.once('close', () => {
      for (const connections of both) connections?.end(socket);
    });
  };
  for (const event of ['request', 'checkContinue', 'checkExpectation']) server.on(event, track);

  warnOfDrops(server, log);
}

/** Some connections, and which of them have waited for a request for longest. */
class Connections {
  /** The running requests of each. */
  readonly #requests = new Map<Socket, number>();
  readonly #idle = new Set<Socket>();

  get count(): number {
    return this.#requests.size;
  }

  add(socket: Socket): void {
    this.#requests.set(socket, 0);
    this.#idle.add(socket);
  }

  remove(socket: Socket): void {
    this.#requests.delete(socket);
    this.#idle.delete(socket);
  }

  begin(socket: Socket): void {
    this.#change(socket, 1);
  }

  end(socket: Socket): void {
    this.#change(socket, -1);
  }

  /** @returns false if none is idle */
  closeOldest(): boolean {
    const [oldest] = this.#idle;
    // Not counted from now on, though it closes a little later.
    if (oldest) this.remove(oldest);
    oldest?.destroy();
    return oldest !== undefined;
  }

  #change(socket: Socket, by: 1 | -1): void {
    const before = this.#requests.get(socket);
    if (before === undefined) return;
    this.#requests.set(socket, before + by);
    // Added at the end, so that the first is the one that is idle for longest.
    if (before + by === 0) this.#idle.add(socket);
    else this.#idle.delete(socket);
  }
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
