import type { ActionName, Initiator } from '@latchkey/domain/initiator';
import type { AuditedIds } from '@latchkey/rules/audit/audit';
import type { Service } from '@latchkey/rules/service';
import type { OperationContract, Role } from '@latchkey/schema';
import type { AnyCaller } from './caller.ts';

/** `exchanges`: a success counts as a request, a wrong code as a failed exchange. */
export type CountsAgainst = 'nothing' | 'requests' | 'exchanges' | 'links' | 'pages';

export type Audited = 'always' | 'first_use' | 'refusals';

/** Where the ids that are audited are: in the input, before the call is handled, or only in the output. */
export type IdPaths<Input = object, Output = object> = {
  readonly [Id in keyof AuditedIds]?: `input.${IdPath<Input>}` | `output.${IdPath<Output>}`;
};

type IdPath<Members> = Members extends unknown
  ?
      | (keyof Members & string)
      | (Members extends { application: { id: string | null } | null } ? 'application.id' : never)
  : never;

export interface ActionColumns {
  readonly counts: CountsAgainst;
  readonly audited: Audited;
  readonly ids: { readonly [Id in keyof AuditedIds]?: string };
}

interface CallDetails {
  publicUrl: () => string;
  /** A handler adds the ids that its row cannot name. */
  ids: AuditedIds;
  /** For a call that did nothing and needed no more than a public id. Throws over the limit. */
  countFruitless(): void;
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
