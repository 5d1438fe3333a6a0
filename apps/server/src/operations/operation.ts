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
import { eventsHandlers } from './handlers/events.ts';
import { grantHandlers } from './handlers/grants.ts';
import { keyHandlers } from './handlers/keys.ts';
import { linkingHandlers } from './handlers/linking.ts';
import { operationTable, type ReadAccount } from './operation-table.ts';

export interface Operation extends OperationContract, Action {
  readonly name: OperationName;
  readonly caller: OperationContract['caller'];
  readonly input: OperationContract['input'];
  readonly account?: ReadAccount | undefined;
}

const handlers: Handlers = {
  ...grantHandlers,
  ...accountHandlers,
  ...adminHandlers,
  ...linkingHandlers,
  ...keyHandlers,
  ...eventsHandlers,
};

// A wire that iterates over all operations cannot name the types of each contract, so this one cast
// removes them.
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

export function operationNamed<Name extends OperationName>(name: Name) {
  return operations.get(name) as Operation &
    Action<OperationOutput<Name>, OperationInput<Name>, CallerOf<Name>>;
}
