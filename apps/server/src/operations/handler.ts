import type { OperationName, OperationOutput, ValidatedInput } from '@latchkey/schema';
import type { AuditedIds } from '../audit/audit.ts';
import type { Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { CallerOf } from './caller.ts';

/** What a handler knows of its call besides its input. */
export interface CallDetails {
  /** Base of links, without a trailing slash. */
  publicUrl: string;
  /** What the audit has of the call so far. A handler adds what its row of the table can't name. */
  ids: AuditedIds;
}

/**
 * Carries out an operation. Gets a validated input and an authenticated caller; returns the object of
 * the wire or throws a DomainError.
 */
export type Handler<Name extends OperationName> = (
  service: Service,
  input: ValidatedInput<Name>,
  caller: CallerOf<Name>,
  initiator: Initiator,
  details: CallDetails,
) => Promise<OperationOutput<Name>>;

export type Handlers<Names extends OperationName = OperationName> = {
  [Name in Names]: Handler<Name>;
};
