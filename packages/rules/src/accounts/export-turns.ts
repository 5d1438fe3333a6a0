import { setImmediate } from 'node:timers/promises';
import { withoutDeadline } from '@latchkey/domain/request-scope';
import { createTurns } from '../work/turns.ts';

export interface ExportTurns {
  /**
   * Reads without a deadline once no other export of this account runs. The wait for that has the
   * deadline. The turn lasts until all is read, or the reader returns.
   */
  take<T>(account_id: string, read: () => AsyncGenerator<T, void>): AsyncGenerator<T, void>;
}

export function createExportTurns(): ExportTurns {
  const turns = createTurns();

  return {
    async *take(account_id, read) {
      const end = await turns.begin(account_id);
      try {
        const parts = read();
        for (;;) {
          const { done, value } = await withoutDeadline(() => parts.next());
          if (done) return;
          yield value;
          // SQLite reads within the turn of the event loop. Others are handled between two parts.
          await setImmediate();
        }
      } finally {
        end();
      }
    },
  };
}
