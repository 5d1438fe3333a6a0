import {
  type Caller,
  operations as contracts,
  type OperationContract,
  type OperationName,
  operationNames,
} from '@latchkey/schema';
import type { Action } from './action.ts';
import type { Handlers } from './handler.ts';
import { accountHandlers } from './handlers/account.ts';
import { adminHandlers } from './handlers/admin.ts';
import { grantHandlers } from './handlers/grants.ts';
import { linkingHandlers } from './handlers/linking.ts';

/** An operation as both wires see it: its contract and its handler. */
export interface Operation extends OperationContract, Action {
  readonly name: OperationName;
  readonly caller: Caller;
}

const handlers: Handlers = {
  ...grantHandlers,
  ...accountHandlers,
  ...adminHandlers,
  ...linkingHandlers,
};

// A handler takes the input and the caller of its own contract. A wire that iterates over all
// operations can't name these types, so this one cast removes them.
const implement = (name: OperationName): Operation => ({
  name,
  ...contracts[name],
  handle: handlers[name] as Operation['handle'],
});

export const operations: ReadonlyMap<string, Operation> = new Map(
  operationNames.map((name) => [name, implement(name)]),
);
