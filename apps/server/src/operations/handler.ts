import type { OperationName, OperationOutput, ValidatedInput } from '@latchkey/schema';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { CallerOf } from './caller.ts';

/**
 * Does what an operation is for: gets its input validated and its caller authenticated, returns the
 * object of the wire or throws a DomainError.
 */
export type Handler<Name extends OperationName> = (
  service: Service,
  input: ValidatedInput<Name>,
  caller: CallerOf<Name>,
  origin: Origin,
) => Promise<OperationOutput<Name>>;

/** A handler each for some operations. */
export type Handlers<Names extends OperationName = OperationName> = {
  [Name in Names]: Handler<Name>;
};
