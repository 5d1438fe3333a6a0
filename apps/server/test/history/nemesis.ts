import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerProcess } from '../two-servers/server-process.ts';
import type { ServerName } from './history.ts';
import type { Random } from './random.ts';

/** What goes wrong during a run, besides the connections that the clients cut themselves. */
export type Fault =
  | { kind: 'kill-server'; server: ServerName }
  | { kind: 'pause-server'; server: ServerName; milliseconds: number }
  | { kind: 'kill-database' };

/** A database that can be killed and comes back with its data. */
export interface Killable {
  kill(): Promise<void>;
  restart(): Promise<void>;
}

// Less than a server waits for the lock of another, in case it is stopped while it holds it, and
// much more than a call takes.
const SHORTEST_PAUSE = 50;
const LONGEST_PAUSE = 600;

/** The faults of a run, in their order. One of each kind comes first, so that no run lacks one. */
export function planFaults(random: Random, count: number, withDatabase: boolean): Fault[] {
  const kinds = [
    'kill-server' as const,
    'pause-server' as const,
    ...(withDatabase ? ['kill-database' as const] : []),
  ];
  return Array.from({ length: count }, (_, index): Fault => {
    const kind = kinds[index] ?? random.pick(kinds);
    const server = random.pick(['A', 'B'] as const);
    if (kind === 'kill-database') return { kind };
    if (kind === 'kill-server') return { kind, server };
    const milliseconds = SHORTEST_PAUSE + random.integer(LONGEST_PAUSE - SHORTEST_PAUSE);
    return { kind, server, milliseconds };
  });
}

/** Makes it happen, and puts it right again; in between the load goes on. */
export async function strike(
  fault: Fault,
  servers: Record<ServerName, ServerProcess>,
  database: Killable | undefined,
): Promise<void> {
  if (fault.kind === 'kill-database') {
    await database?.kill();
    await database?.restart();
    return;
  }
  const server = servers[fault.server];
  if (fault.kind === 'kill-server') {
    await server.kill();
    await server.restart();
    return;
  }
  server.pause();
  await sleep(fault.milliseconds);
  server.resume();
}
