import type { ErrorCode } from '@latchkey/schema';
import type { Logger } from 'pino';
import { DomainError } from '../domain-error.ts';
import type { ActionName, Actor } from '../initiator.ts';
import { sinkOf } from '../log/log-sink.ts';
import type { Reason } from '../reasons.ts';
import type { CommandChange } from '../store/records.ts';
import type { CommandChanges } from './command-changes.ts';
import type { RefusalKeeper } from './refusal-keeper.ts';

/** Who acts on what, as far as it is known. */
export interface AuditedIds {
  application_id?: string;
  /** The application secret that was used, added or removed. */
  secret_id?: string;
  grant_id?: string;
  account_id?: string;
  link_id?: string;
}

export interface AuditedCall {
  action: ActionName;
  /** Null if the caller was not authenticated; then the ids are only claims. */
  by: Actor | null;
  ids: AuditedIds;
  /** Which secret the operator used. */
  admin_secret: 'current' | 'previous' | undefined;
  /** Credentials in the caller's own request id were redacted; in the address too. */
  request_id: string;
  address: string | null;
  /** At the command line. */
  os_user?: string | undefined;
}

/** Records who did what: a log line for each call, and a record in the store for each refusal. */
export interface Audit {
  /**
   * Called before every change.
   *
   * @throws DomainError `store_unavailable` if AUDIT is `required` and the log's sink fails: the line
   *   of the change could get lost
   */
  beforeChange(by: Actor): void;
  /** A call that changed something. Changes of a grant are in the grant's own record as well. */
  done(call: AuditedCall): void;
  refused(call: AuditedCall, error: DomainError): void;
  /** Resolves when all refusals and changes so far are written or have failed. */
  flush(): Promise<void>;
}

/** The log with a level at which the audit is written: every one except `silent`. */
export function auditLog(logger: Logger): Logger {
  const isTerse = ['warn', 'error', 'fatal'].includes(logger.level);
  return isTerse ? logger.child({}, { level: 'info' }) : logger;
}

/** Writes the line of a change that a command has made. */
export function writeCommandChange(log: Logger, change: CommandChange): void {
  const { operation, os_user, ids, request_id, at } = change;
  log.info(
    {
      ...{ action: operation, by: 'command_line', os_user, ...ids },
      ...{ result: 'done', reason: null, request_id, address: null },
      // The time of the line is that of the log.
      at: new Date(at).toISOString(),
    },
    'audit',
  );
}

/** @param isRequired - whether a change is refused while its line could get lost */
export function createAudit(
  logger: Logger,
  keeper: RefusalKeeper,
  changes: Pick<CommandChanges, 'keep' | 'flush'>,
  isRequired = false,
): Audit {
  const sink = isRequired ? sinkOf(logger) : null;
  const log = auditLog(logger);

  function write(call: AuditedCall, result: 'done' | ErrorCode, reason: Reason | null): void {
    const { action, by, ids, admin_secret, request_id, address, os_user = 'unknown' } = call;
    if (by === 'command_line') {
      // A command prints its result; its stderr is for the person who typed it.
      if (result === 'done') changes.keep({ operation: action, os_user, request_id, ids });
      return;
    }
    log.info({ action, by, admin_secret, ...ids, result, reason, request_id, address }, 'audit');
  }

  return {
    beforeChange(by) {
      // What a command changes waits in the database, not in the sink.
      if (by !== 'command_line' && sink?.isFailing) throw DomainError.because('log_failing');
    },

    done: (call) => write(call, 'done', null),

    refused(call, error) {
      write(call, error.code, error.reason);
      keeper.keep({
        request_id: call.request_id,
        operation: call.action,
        error_code: error.code,
        reason: error.reason,
        by: call.by,
        application_id: call.ids.application_id ?? null,
        grant_id: call.ids.grant_id ?? null,
        address: call.address,
      });
    },

    async flush() {
      await Promise.all([keeper.flush(), changes.flush()]);
    },
  };
}
