import type { ErrorCode, OperationName } from '@latchkey/schema';
import type { Logger } from 'pino';
import type { DomainError } from '../domain-error.ts';
import type { Actor } from '../origin.ts';
import type { Reason } from '../reasons.ts';
import type { RefusalKeeper } from './refusal-keeper.ts';

/** Who acts and what is acted on, as far as it is known. */
export interface AuditedIds {
  application_id?: string;
  /** The application secret that was used, or that was added or removed. */
  secret_id?: string;
  grant_id?: string;
  account_id?: string;
}

/** A call of an operation, as the audit has it. */
export interface AuditedCall {
  action: OperationName;
  /** Null where the caller was not authenticated; then the ids are only what it claims. */
  by: Actor | null;
  ids: AuditedIds;
  /** Without a credential that the caller may have put into it; so the address. */
  request_id: string;
  address: string | null;
}

/** Keeps account of who did what: a line of the log each, and of what was refused a record too. */
export interface Audit {
  /** A call that changed something. What it did to a grant, the grant's record says itself. */
  done(call: AuditedCall): void;
  /** A call that was refused, or failed. */
  refused(call: AuditedCall, error: DomainError): void;
  /** Resolves when the refusals so far are in the store, or could not be brought there. */
  flush(): Promise<void>;
}

export function createAudit(logger: Logger, keeper: RefusalKeeper): Audit {
  // Who did what is not a matter of how talkative the log is: only `silent` leaves it out.
  const isTerse = ['warn', 'error', 'fatal'].includes(logger.level);
  const log = isTerse ? logger.child({}, { level: 'info' }) : logger;

  function write(call: AuditedCall, result: 'done' | ErrorCode, reason: Reason | null): void {
    // A command says on its own output what it did; stderr is for who typed it.
    if (call.by === 'command_line') return;
    const { action, by, ids, request_id, address } = call;
    log.info({ action, by, ...ids, result, reason, request_id, address }, 'audit');
  }

  return {
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
