import type { Initiator } from '@latchkey/domain/initiator';
import type { AuditedIds } from '@latchkey/rules/audit/audit';
import type { Service } from '@latchkey/rules/service';
import type { OperationName, OperationOutput, ValidatedInput } from '@latchkey/schema';
import type { CallerOf } from './caller.ts';
import type { StreamedOutput } from './streamed-output.ts';

export interface CallDetails {
  publicUrl: () => string;
  /** A handler adds the ids that its row of the table cannot name. */
  ids: AuditedIds;
  /** For a call that did nothing and needed no more than a public id. Throws over the limit. */
  countFruitless(): void;
}

type Handler<Name extends OperationName> = (
  service: Service,
  input: ValidatedInput<Name>,
  caller: CallerOf<Name>,
  initiator: Initiator,
  details: CallDetails,
) => Promise<OperationOutput<Name> | StreamedOutput<OperationOutput<Name>>>;

export type Handlers<Names extends OperationName = OperationName> = {
  [Name in Names]: Handler<Name>;
};
