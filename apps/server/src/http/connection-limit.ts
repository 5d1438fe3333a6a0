import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { Logger } from 'pino';

// Open files that are no callers: the database and its pool of up to 100 connections, the log, the
// program itself.
const RESERVED_FILES = 256;

const A_MINUTE = 60_000;

/**
 * Keeps callers from using up the files that the process may open, each of which is a connection:
 * without any left the service could not reach its database. One caller more than there is room for
 * is cut off at once; those before it are served on.
 */
export function limitConnections(server: Server, log: Logger): void {
  const files = openFilesLimit();
  if (files === null) return;
  server.maxConnections = files - Math.min(RESERVED_FILES, Math.floor(files / 2));
  let toldAt = Number.NEGATIVE_INFINITY;
  server.on('drop', () => {
    // Whoever opens that many would fill the log too.
    if (performance.now() - toldAt < A_MINUTE) return;
    toldAt = performance.now();
    log.warn({ connections: server.maxConnections }, 'too many connections: new ones are cut off');
  });
}

/** The process's limit of open files (RLIMIT_NOFILE); null where the system has none or tells none. */
function openFilesLimit(): number | null {
  try {
    const [, limit] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}
