import { beforeDeadline, withoutDeadline } from '../request-scope.ts';

export interface ExportTurns {
  /** Runs without a deadline once no other of this account runs. The wait for that has the deadline. */
  take<T>(account_id: string, run: () => Promise<T>): Promise<T>;
}

export function createExportTurns(): ExportTurns {
  const underWay = new Map<string, Promise<void>>();

  return {
    async take(account_id, run) {
      for (;;) {
        const other = underWay.get(account_id);
        if (other === undefined) break;
        await beforeDeadline(other);
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      underWay.set(account_id, promise);
      try {
        return await withoutDeadline(run);
      } finally {
        underWay.delete(account_id);
        resolve();
      }
    },
  };
}
