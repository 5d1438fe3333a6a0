import type { ActionName, Initiator } from '@latchkey/domain/initiator';
import type { AuditedIds } from '@latchkey/rules/audit/audit';
import type { Service } from '@latchkey/rules/service';
import type { OperationContract, Role } from '@latchkey/schema';
import type { AnyCaller } from './caller.ts';
import type { CallDetails } from './handler.ts';

/** `exchanges`: a success counts as a request, a wrong code as a failed exchange. */
export type CountsAgainst = 'nothing' | 'requests' | 'exchanges' | 'links' | 'pages';

export type Audited = 'always' | 'first_use' | 'refusals';

export type IdPaths = { readonly [Id in keyof AuditedIds]?: string };

type IdPathsIn<Members> = { readonly [Id in keyof AuditedIds]?: IdPath<Members> & string };

type IdPath<Members> = Members extends unknown
  ?
      | keyof Members
      | (Members extends { application: { id: string | null } | null } ? 'application.id' : never)
  : never;

export interface ActionColumns {
  readonly counts: CountsAgainst;
  readonly audited: Audited;
  readonly inputIds: IdPaths;
  readonly outputIds: IdPaths;
}

export interface ColumnsFor<Input, Output> extends ActionColumns {
  readonly inputIds: IdPathsIn<Input>;
  readonly outputIds: IdPathsIn<Output>;
}

/** The input chooses the action. A refusal before that is recorded under `name`. */
export interface ActionChoice<Output extends object, Input extends object, By extends AnyCaller>
  extends Pick<Action<Output, Input, By>, 'name' | 'caller' | 'roles'> {
  readonly choose: (input: Input) => Action<Output, Input, By>;
}

export interface Action<
  Output extends object = object,
  Input extends object = object,
  By extends AnyCaller = AnyCaller,
> extends ActionColumns {
  readonly name: ActionName;
  readonly caller: By['kind'];
  /** False also for an action that only notes the first use of a grant. */
  readonly changes: boolean;
  /** The roles of the keys that may call it, of an operation of the operator. */
  readonly roles?: readonly Role[];
  /** Null if `readInput` makes the input. */
  readonly input: OperationContract['input'] | null;
  // A property, because TypeScript would let a method take less than it needs.
  readonly handle: (
    service: Service,
    input: Input,
    caller: By,
    initiator: Initiator,
    details: CallDetails,
  ) => Promise<Output>;
}
