import {
  operations as contracts,
  type OperationContract,
  type OperationName,
  operationNames,
} from '@latchkey/schema';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import type { AnyCaller, Handlers } from './handler.ts';
import { accountHandlers } from './handlers/account.ts';
import { adminHandlers } from './handlers/admin.ts';
import { grantHandlers } from './handlers/grants.ts';

/** An operation as both wires see it: its contract and its handler. */
export interface Operation extends OperationContract {
  readonly name: OperationName;
  /** Takes only an input that its schema has returned and a caller of its kind. */
  handle(
    service: Service,
    input: unknown,
    caller: AnyCaller,
    origin: Origin,
    publicUrl?: string,
  ): Promise<object>;
}

const handlers: Handlers = { ...grantHandlers, ...accountHandlers, ...adminHandlers };

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
