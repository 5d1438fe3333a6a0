import { type OperationName, operationNames, operations } from '@latchkey/schema';
import { asBearer } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { accountCases } from './accounts.ts';
import { applicationCases } from './applications.ts';
import type { Cases } from './case.ts';
import { endpointCases } from './endpoints.ts';
import { grantCases } from './grants.ts';
import { linkCases } from './links.ts';
import { operatorCases } from './operators.ts';
import { registryCases } from './registry.ts';
import type { World } from './world.ts';

/** Every operation: one that lacks its case does not compile. */
export const cases: Cases<''> = {
  ...applicationCases,
  ...accountCases,
  ...grantCases,
  ...linkCases,
  ...registryCases,
  ...endpointCases,
  ...operatorCases,
};

/** The valid input of every operation. */
export const inputsOf = (world: World) =>
  Object.fromEntries(operationNames.map((name) => [name, cases[name].input(world)])) as Record<
    OperationName,
    Record<string, unknown>
  >;

/** The Authorization header of somebody who may call an operation. */
export const credentialFor = (name: OperationName, { bearer, grant }: World): string =>
  ({ application: bearer, grant: asBearer(grant), operator })[operations[name].caller];
