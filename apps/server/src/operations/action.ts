import type { OperationContract } from '@latchkey/schema';
import type { AuditedIds } from '../audit/audit.ts';
import type { ActionName, Initiator } from '../initiator.ts';
import type { Service } from '../service.ts';
import type { AnyCaller } from './caller.ts';
import type { CallDetails } from './handler.ts';

/**
 * What a call counts against: nothing; the requests of its application; the same, but only if it
 * succeeds, and if a code was wrong, the failed exchanges of the application; or the links of its
 * address, if it succeeds.
 */
export type CountsAgainst = 'nothing' | 'requests' | 'exchanges' | 'links';

/** Which calls the audit has. It has every refusal. */
export type Recorded = 'always' | 'first_use' | 'refusals';

/** Where an input or an output has the ids that the audit records. */
export type IdPaths = { readonly [Id in keyof AuditedIds]?: string };

/** The same, where the members are known. */
type IdPathsIn<Members> = { readonly [Id in keyof AuditedIds]?: IdPath<Members> & string };

type IdPath<Members> = Members extends unknown
  ?
      | keyof Members
      | (Members extends { application: { id: string } | null } ? 'application.id' : never)
  : never;

/** The columns that operations and browser actions share. */
export interface ActionColumns {
  readonly counts: CountsAgainst;
  readonly recorded: Recorded;
  /** Which ids the audit has of the input, and of the output; it has those of the caller too. */
  readonly inputIds: IdPaths;
  readonly outputIds: IdPaths;
}

export interface ColumnsFor<Input, Output> extends ActionColumns {
  readonly inputIds: IdPathsIn<Input>;
  readonly outputIds: IdPathsIn<Output>;
}

/** What a call carries out: an operation, or what somebody does in a browser. */
export interface Action<
  Output extends object = object,
  Input extends object = object,
  By extends AnyCaller = AnyCaller,
> extends ActionColumns {
  readonly name: ActionName;
  readonly caller: By['kind'];
  /** Whether it changes anything, besides noting the first use of a grant. */
  readonly changes: boolean;
  /** The schema of an input that is as the client sent it; null if `readInput` has made it. */
  readonly input: OperationContract['input'] | null;
  // As a property, since TypeScript would let a method take less than it needs.
  readonly handle: (
    service: Service,
    input: Input,
    caller: By,
    initiator: Initiator,
    details: CallDetails,
  ) => Promise<Output>;
}
