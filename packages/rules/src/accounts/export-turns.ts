import { setImmediate } from 'node:timers/promises';
import { beforeDeadline, withoutDeadline } from '@latchkey/domain/request-scope';

export interface ExportTurns {
  /**
   * Reads without a deadline once no other export of this account runs. The wait for that has the
   * deadline. The turn lasts until all is read, or the reader returns.
   */
  take<T>(account_id: string, read: () => AsyncGenerator<T, void>): AsyncGenerator<T, void>;
}

export function createExportTurns(): ExportTurns {
  const underWay = new Map<string, Promise<void>>();

  return {
    async *take(account_id, read) {
      for (;;) {
        const other = underWay.get(account_id);
        if (other === undefined) break;
        await beforeDeadline(other);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      underWay.set(account_id, promise);
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
        underWay.delete(account_id);
        resolve();
      }
    },
  };
}
