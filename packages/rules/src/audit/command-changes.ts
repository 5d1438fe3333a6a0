import { setImmediate as endOfTurn } from 'node:timers/promises';
import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { CommandChange } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { Logger } from 'pino';
import { sinkOf } from '../log/log-sink.ts';

export type NewCommandChange = Omit<CommandChange, 'id' | 'at' | 'number'>;

/** Nobody keeps the log of a command, so its changes wait in the database. */
export interface CommandChanges {
  keep(change: NewCommandChange): void;
  flush(): Promise<void>;
  watch(): void;
  close(): void;
}

const PAGE = 100;
const WATCH_EVERY: Milliseconds = 10_000;

export function createCommandChanges(
  store: Pick<
    Store,
    'takeLogNumbers' | 'keepCommandChanges' | 'listCommandChanges' | 'forgetCommandChanges'
  >,
  {
    clock,
    log,
    writeLine,
    onError,
  }: {
    clock: Clock;
    log: Logger;
    writeLine(change: CommandChange): void;
    onError(error: unknown): void;
  },
): CommandChanges {
  let waiting: Omit<CommandChange, 'number'>[] = [];
  let keeping: Promise<void> | null = null;
  let isLogging = false;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function keepAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        // One for each change: a restore misses the number if it lacks the change.
        const last = await store.takeLogNumbers({ count: batch.length });
        const first = last - batch.length + 1;
        await store.keepCommandChanges(
          batch.map((change, index) => ({ ...change, number: first + index })),
        );
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        const problem = `${batch.length} changes were made, and are missing in the audit: ${why}`;
        log.warn({ problem }, 'the database needs attention');
      }
    }
  }

  async function logAll(): Promise<void> {
    for (;;) {
      // Two processes, or a crash, may write a line twice. No line is lost.
      const changes = await store.listCommandChanges(PAGE);
      for (const change of changes) writeLine(change);
      await endOfTurn();
      if (closed || changes.length === 0 || sinkOf(log)?.isFailing) return;
      await store.forgetCommandChanges(changes.map(({ id }) => id));
      if (changes.length < PAGE) return;
    }
  }

  function logInBackground(): void {
    if (isLogging || log.level === 'silent' || sinkOf(log)?.isFailing) return;
    isLogging = true;
    logAll()
      .catch((error) => {
        if (!closed) onError(error);
      })
      .finally(() => {
        isLogging = false;
      });
  }

  return {
    keep(change) {
      const at = clock();
      waiting.push({ id: newId(at), at, ...change });
      keeping ??= keepAll().finally(() => {
        keeping = null;
      });
    },

    async flush() {
      await keeping;
    },

    watch() {
      logInBackground();
      timer = setInterval(logInBackground, WATCH_EVERY).unref();
    },

    close() {
      closed = true;
      clearInterval(timer);
    },
  };
}
