import type { Logger } from 'pino';
import { newId } from '../credentials/credentials.ts';
import type { CommandChange } from '../store/records.ts';

export type LogNumberEvent = 'start' | 'minute' | 'stop';

/**
 * The audit lines of this process. They are counted before the log can drop one, so that a restore knows
 * which are missing.
 */
export interface AuditLines {
  count(): number;
  write(members: object): void;
  writeCommandChange(change: CommandChange): void;
  writeNumber(members: { number: number; event: LogNumberEvent; lines: number }): void;
}

/** At every level except `silent`. */
export function createAuditLines(logger: Logger): AuditLines {
  const isTerse = ['warn', 'error', 'fatal'].includes(logger.level);
  const log = isTerse ? logger.child({}, { level: 'info' }) : logger;
  const instance = newId(Date.now());
  let line = 0;

  function write(members: object): void {
    line += 1;
    log.info({ ...members, instance, line }, 'audit');
  }

  return {
    count: () => line,
    write,

    writeCommandChange({ operation, os_user, ids, request_id, at, number }) {
      write({
        ...{ action: operation, by: 'command_line', os_user, ...ids },
        ...{ result: 'done', reason: null, request_id, address: null },
        // The time of the log line is later: this is the time of the change.
        at: new Date(at).toISOString(),
        number,
      });
    },

    writeNumber(members) {
      log.info({ ...members, instance }, 'log number');
    },
  };
}
