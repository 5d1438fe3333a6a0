import {
  operations as contracts,
  type OperationContract,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  operationNames,
} from '@latchkey/schema';
import type { Action } from './action.ts';
import type { CallerOf } from './caller.ts';
import type { Handlers } from './handler.ts';
import { accountHandlers } from './handlers/account.ts';
import { adminHandlers } from './handlers/admin.ts';
import { grantHandlers } from './handlers/grants.ts';
import { linkingHandlers } from './handlers/linking.ts';
import { operationTable, type ReadAccount } from './operation-table.ts';

/** An operation as both wires see it: its contract, its row in the server's table and its handler. */
export interface Operation extends OperationContract, Action {
  readonly name: OperationName;
  readonly caller: OperationContract['caller'];
  readonly input: OperationContract['input'];
  /** For a grant that calls. */
  readonly account?: ReadAccount | undefined;
}

const handlers: Handlers = {
  ...grantHandlers,
  ...accountHandlers,
  ...adminHandlers,
  ...linkingHandlers,
};

// A handler takes the input that its own contract has validated, and the caller of its contract. A
// wire that iterates over all operations can't name these types, so this one cast removes them.
const implement = (name: OperationName): Operation => {
  const contract: OperationContract = contracts[name];
  return {
    name,
    ...contract,
    ...operationTable[name],
    changes: !(contract.readOnly ?? contract.method === 'GET'),
    handle: handlers[name] as Operation['handle'],
  };
};

export const operations: ReadonlyMap<string, Operation> = new Map(
  operationNames.map((name) => [name, implement(name)]),
);

/** One operation with its own types, for a caller inside of the process. */
export function operationNamed<Name extends OperationName>(name: Name) {
  return operations.get(name) as Operation &
    Action<OperationOutput<Name>, OperationInput<Name>, CallerOf<Name>>;
}
