import { AsyncLocalStorage } from 'node:async_hooks';
import type { MongoClient } from 'mongodb';

interface Attempt {
  sent: number;
}

const running = new AsyncLocalStorage<Attempt>();

/** By their names on the wire; a connection's own commands, such as its log-in, don't count. */
const writes = new Set(['findAndModify', 'insert', 'update']);

/** Makes {@link attempt} see what a client sends. Needs its `monitorCommands`. */
export function watchSends(client: MongoClient): void {
  client.on('commandStarted', ({ commandName }) => {
    const current = running.getStore();
    if (current && writes.has(commandName)) current.sent += 1;
  });
}

export type AttemptResult<T> = { result: T } | { error: unknown; sent: number };

/**
 * Runs a write and counts how often it was sent.
 *
 * The error alone does not tell that: the driver repeats a write, once, where the server supports
 * it, and when it then finds no server to send it to, the error is that of the search, although the
 * first command may have arrived. The driver tells of each command as it sends it, from within the
 * call that sends it.
 */
export async function attempt<T>(write: () => Promise<T>): Promise<AttemptResult<T>> {
  const current: Attempt = { sent: 0 };
  try {
    return { result: await running.run(current, write) };
  } catch (error) {
    return { error, sent: current.sent };
  }
}
