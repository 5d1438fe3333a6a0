import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { BadSetting } from '../bad-setting.ts';
import { newId } from '../credentials/credentials.ts';
import { noLimits } from '../limits/limits.ts';
import { call, passThrough } from '../operations/call.ts';
import { type Operation, operations } from '../operations/operation.ts';
import type { Service } from '../service.ts';
import { osUser } from './os-user.ts';
import type { Terminal } from './terminal.ts';

export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

const LINKING_IS_OFF =
  'SIGN_IN_URL is not set, so the linking flow is off. Give commands the settings of the service. Example: SIGN_IN_URL=https://host.example/sign-in';

/**
 * Calls an operation as the person at the command line.
 *
 * @throws DomainError; BadSetting if the operation needs the linking flow and that is off
 */
export async function callOperation<Name extends OperatorOperation>(
  service: Service,
  name: Name,
  input: OperationInput<Name>,
  { environment }: Pick<Terminal, 'environment'> = { environment: process.env },
): Promise<OperationOutput<Name>> {
  const operation = operations.get(name) as Operation;
  if (operation.needsLinking && service.linking === null) throw new BadSetting(LINKING_IS_OFF);
  const context = { service, limits: noLimits, intercept: passThrough };
  const output = await call(context, operation, {
    authenticate: async () => ({ admin_secret: null }),
    readInput: async () => input,
    request: { request_id: newId(service.clock()), address: null },
    by: 'command_line',
    os_user: osUser(environment),
    record: {},
  });
  return output as OperationOutput<Name>;
}
