import {
  operations as contracts,
  isRead,
  type OperationContract,
  type OperationInput,
  type OperationName,
  type OperationOutput,
  operationNames,
} from '@latchkey/schema';
import { accountRows } from './account.ts';
import { accountsRows } from './accounts.ts';
import type { Action } from './action.ts';
import { applicationRows } from './applications.ts';
import type { CallerOf } from './caller.ts';
import { codeRows } from './codes.ts';
import { connectionRows } from './connections.ts';
import { deliveryRows } from './deliveries.ts';
import { documentRows } from './documents.ts';
import { endpointRows } from './endpoints.ts';
import { grantRows } from './grants.ts';
import { keyRows } from './keys.ts';
import { linkRows } from './links.ts';
import { pageRows } from './pages.ts';
import { refusalRows } from './refusals.ts';
import { resourceRows } from './resources.ts';
import type { OperationRow, ReadAccount } from './row.ts';
import { scopeRows } from './scopes.ts';
import { serviceRows } from './service.ts';

export interface Operation extends OperationContract, Action {
  readonly name: OperationName;
  readonly caller: OperationContract['caller'];
  readonly input: OperationContract['input'];
  readonly account?: ReadAccount | undefined;
}

const rows: { readonly [Name in OperationName]: OperationRow<Name> } = {
  ...accountRows,
  ...accountsRows,
  ...applicationRows,
  ...codeRows,
  ...connectionRows,
  ...deliveryRows,
  ...documentRows,
  ...endpointRows,
  ...grantRows,
  ...keyRows,
  ...linkRows,
  ...pageRows,
  ...refusalRows,
  ...resourceRows,
  ...scopeRows,
  ...serviceRows,
};

// A wire that iterates over all operations cannot name the types of each contract, so this one cast
// removes them.
const implement = (name: OperationName): Operation => {
  const contract: OperationContract = contracts[name];
  return {
    ...{ name, counts: 'nothing' },
    ...contract,
    ...(rows[name] as Omit<Operation, keyof OperationContract>),
    changes: !isRead(contract),
  };
};

export const operations: ReadonlyMap<string, Operation> = new Map(
  operationNames.map((name) => [name, implement(name)]),
);

export function operationNamed<Name extends OperationName>(name: Name) {
  return operations.get(name) as Operation &
    Action<OperationOutput<Name>, OperationInput<Name>, CallerOf<Name>>;
}
