import type { ErrorCode } from '@latchkey/schema';
import type { Logger } from 'pino';
import { DomainError } from '../domain-error.ts';
import { sinkOf } from '../log-sink.ts';
import type { ActionName, Actor } from '../origin.ts';
import type { Reason } from '../reasons.ts';
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
  /** Resolves when all refusals so far are written or have failed. */
  flush(): Promise<void>;
}

/** @param isRequired - whether a change is refused while its line could get lost */
export function createAudit(logger: Logger, keeper: RefusalKeeper, isRequired = false): Audit {
  const sink = isRequired ? sinkOf(logger) : null;
  // The audit is written at every log level except `silent`.
  const isTerse = ['warn', 'error', 'fatal'].includes(logger.level);
  const log = isTerse ? logger.child({}, { level: 'info' }) : logger;

  function write(call: AuditedCall, result: 'done' | ErrorCode, reason: Reason | null): void {
    // A command prints its result; its stderr is for the person who typed it.
    if (call.by === 'command_line') return;
    const { action, by, ids, admin_secret, request_id, address } = call;
    log.info({ action, by, admin_secret, ...ids, result, reason, request_id, address }, 'audit');
  }

  return {
    beforeChange(by) {
      // A command writes no line.
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

    flush: () => keeper.flush(),
  };
}
