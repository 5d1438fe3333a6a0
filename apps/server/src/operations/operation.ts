import {
  operations as contracts,
  type OperationContract,
  type OperationName,
  operationNames,
} from '@latchkey/schema';
import type { Origin } from '../origin.ts';
import type { Service } from '../service.ts';
import { accountHandlers } from './account.ts';
import { adminHandlers } from './admin.ts';
import type { AnyCaller } from './caller.ts';
import { grantHandlers } from './grants.ts';
import type { Handlers } from './handler.ts';

/** An operation as the two wires see it: its contract, and what does it. */
export interface Operation extends OperationContract {
  readonly name: OperationName;
  /** Does it, for an input that its schema returned and a caller of its kind. */
  handle(service: Service, input: unknown, caller: AnyCaller, origin: Origin): Promise<object>;
}

const handlers: Handlers = { ...grantHandlers, ...accountHandlers, ...adminHandlers };

// The types of an input and a caller are those of the contract; a wire that walks all operations
// can't name them, which this one cast says.
const implement = (name: OperationName): Operation => ({
  name,
  ...contracts[name],
  handle: handlers[name] as Operation['handle'],
});

/** Every operation, by its name. */
export const operations: ReadonlyMap<string, Operation> = new Map(
  operationNames.map((name) => [name, implement(name)]),
);
