import type { OperationName, OperationOutput, Operations, ValidatedInput } from '@latchkey/schema';
import type { Action, Audited, CountsAgainst, IdPaths } from './action.ts';
import type { CallerOf } from './caller.ts';
import type { StreamedOutput } from './streamed-output.ts';

/** The account as it is now, or as it was when the code was issued. */
export type ReadAccount = 'current' | 'at_issue';

/** What the service knows of an operation besides its contract, which has the roles that may call it. */
export type OperationRow<Name extends OperationName> = {
  readonly audited: Audited;
  readonly ids: IdPaths<ValidatedInput<Name>, OperationOutput<Name>>;
  readonly handle: Action<
    OperationOutput<Name> | StreamedOutput<OperationOutput<Name>>,
    ValidatedInput<Name>,
    CallerOf<Name>
  >['handle'];
} & ColumnsOfCaller[Operations[Name]['caller']];

interface ColumnsOfCaller {
  application: { readonly counts: CountsAgainst };
  grant: { readonly counts: CountsAgainst; readonly account: ReadAccount };
  /** No call of the operator counts against a limit. */
  operator: { readonly counts?: never };
}

/** The rows of the operations whose names begin with one of `Objects`. */
export type OperationRows<Objects extends string> = {
  readonly [Name in Extract<OperationName, `${Objects}.${string}`>]: OperationRow<Name>;
};
