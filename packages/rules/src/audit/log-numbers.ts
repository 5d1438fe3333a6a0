import type { Milliseconds } from '@latchkey/domain/clock';
import type { Store } from '@latchkey/store/store';
import type { AuditLines, LogNumberEvent } from './audit.ts';

/** Logs numbers that prove to a restore that the log is whole: see decision 62. */
export interface LogNumbers {
  watch(): void;
  close(): Promise<void>;
}

const WATCH_EVERY: Milliseconds = 60_000;

export function createLogNumbers(
  store: Pick<Store, 'takeLogNumbers'>,
  lines: Pick<AuditLines, 'count' | 'writeNumber'>,
  onError: (error: unknown) => void,
): LogNumbers {
  let hasStarted = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  async function logNumber(event: LogNumberEvent): Promise<void> {
    // Counted first: what is logged meanwhile may be missing in a backup that has the number.
    const counted = lines.count();
    const number = await store.takeLogNumbers({ count: 1 });
    lines.writeNumber({ number, event, lines: counted });
    hasStarted = true;
  }

  function logInBackground(): void {
    running ??= logNumber(hasStarted ? 'minute' : 'start')
      .catch(onError)
      .finally(() => {
        running = null;
      });
  }

  return {
    watch() {
      logInBackground();
      timer = setInterval(logInBackground, WATCH_EVERY).unref();
    },

    async close() {
      if (timer === undefined) return;
      clearInterval(timer);
      await running;
      // The database may have been away until now.
      if (!hasStarted) await logNumber('start').catch(onError);
      if (hasStarted) await logNumber('stop').catch(onError);
    },
  };
}
