import { newId } from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { ActionName, Actor, Initiator } from '@latchkey/domain/initiator';
import type { Reason } from '@latchkey/domain/reasons';
import type { ErrorCode } from '@latchkey/schema';
import type {
  CommandChange,
  EndpointRecord,
  EndReason,
  RevokedRecord,
} from '@latchkey/store/records';
import type { Logger } from 'pino';
import { type LogSink, OF_CHANGE, sinkOf } from '../log/log-sink.ts';
import type { CommandChanges } from './command-changes.ts';
import type { RefusalKeeper } from './refusal-keeper.ts';

type CommandIds = CommandChange['ids'];

export interface AuditedIds extends CommandIds {
  document_uri?: string;
  endpoint_id?: string;
  delivery_id?: string;
  /** Of an endpoint: `true` or `false`. */
  disabled?: string;
  /** Of the secret that an endpoint was given. */
  secret_version?: string;
}

export interface AuditedCall {
  action: ActionName;
  /** Null if the caller was not authenticated. The ids are then only claims. */
  by: Actor | null;
  ids: AuditedIds;
  admin_secret: 'current' | 'previous' | undefined;
  /** Whether it changes something: a restore has to know of it. */
  changes: boolean;
  request_id: string;
  address: string | null;
  os_user?: string | undefined;
}

export interface Audit {
  beforeChange(by: Actor): void;
  done(call: AuditedCall): void;
  /**
   * @param isProven - whether a credential says who calls
   * @returns whether it is within the limits of what is kept
   */
  refused(call: AuditedCall, error: DomainError, isProven: boolean): boolean;
  /** A grant ended that nobody asked to end. */
  ended(grant: RevokedRecord, reason: EndReason, initiator: Initiator | null): void;
  /** Its tries have disabled an endpoint. */
  disabled(endpoint: Pick<EndpointRecord, 'id' | 'application_id' | 'disabled_reason'>): void;
  flush(): Promise<void>;
}

export function createAudit(
  lines: Pick<AuditLines, 'write'>,
  keeper: RefusalKeeper,
  changes: Pick<CommandChanges, 'keep' | 'flush'>,
  /** While it fails, no change is begun. Null: it may lose lines. */
  sink: Pick<LogSink, 'isFailing'> | null = null,
): Audit {
  function write(
    call: AuditedCall,
    result: 'done' | ErrorCode = 'done',
    reason: Reason | null = null,
  ): void {
    const { action, by, ids, admin_secret, request_id, address, os_user = 'unknown' } = call;
    if (by === 'command_line') {
      // Its stderr is for the user, so a service logs the change later.
      if (result === 'done') changes.keep({ operation: action, os_user, request_id, ids });
      return;
    }
    const members = {
      ...{ action, by, admin_secret },
      // Null for a call with ADMIN_SECRET, which has no key. A call with a key has its id in `ids`.
      ...(by === 'operator' && { key_id: null }),
      ...{ ...ids, result, reason, request_id, address },
    };
    lines.write(members, call.changes && (result === 'done' || result === 'outcome_unknown'));
  }

  return {
    beforeChange(by) {
      // Changes of commands wait in the database, not in the sink.
      if (by !== 'command_line' && sink?.isFailing) throw DomainError.because('log_failing');
    },

    done: write,

    refused(call, error, isProven) {
      write(call, error.code, error.reason);
      const refusal = {
        request_id: call.request_id,
        operation: call.action,
        error_code: error.code,
        reason: error.reason,
        by: call.by,
        application_id: call.ids.application_id ?? null,
        account_id: call.ids.account_id ?? null,
        grant_id: call.ids.grant_id ?? null,
        key_id: call.ids.key_id ?? null,
        address: call.address,
      };
      return keeper.keep(refusal, isProven);
    },

    ended({ application_id, grant_id }, reason, initiator) {
      const { by = null, request_id = null } = initiator ?? {};
      const grant = { application_id, grant_id };
      lines.write({
        ...{ action: 'grants.revoke', by, ...grant },
        ...{ result: 'done', reason, request_id, address: null },
      });
    },

    disabled({ id, application_id, disabled_reason: reason }) {
      lines.write({
        ...{ action: 'admin.endpoints.update', by: null, endpoint_id: id, disabled: 'true' },
        ...(application_id !== null && { application_id }),
        ...{ result: 'done', reason, request_id: null, address: null },
      });
    },

    async flush() {
      await Promise.all([keeper.flush(), changes.flush()]);
    },
  };
}

export type LogNumberEvent = 'start' | 'minute' | 'stop';

/**
 * The audit lines of this process. Those of changes are counted before the log can drop one, so that a restore
 * knows which are missing.
 */
export interface AuditLines {
  count(): number;
  /** @param isOfChange - default: it is. The log loses others first: anybody can have any number of them written. */
  write(members: object, isOfChange?: boolean): void;
  writeCommandChange(change: CommandChange): void;
  writeNumber(members: { number: number; event: LogNumberEvent; lines: number }): void;
}

/** At every level except `silent`. */
export function createAuditLines(logger: Logger): AuditLines {
  const isTerse = ['warn', 'error', 'fatal'].includes(logger.level);
  const log = isTerse ? logger.child({}, { level: 'info' }) : logger;
  const instance = newId(Date.now());
  let line = 0;

  function write(members: object, isOfChange = true): void {
    line += 1;
    const sink = isOfChange ? null : sinkOf(logger);
    const dropped = sink?.dropped;
    log.info({ ...members, instance, line, [OF_CHANGE]: isOfChange }, 'audit');
    // No restore misses it, and anybody can have more of these written than the log takes.
    if (sink?.dropped !== dropped) line -= 1;
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
