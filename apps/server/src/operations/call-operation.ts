import { BadSetting } from '@latchkey/domain/bad-setting';
import { newId } from '@latchkey/domain/credentials/credentials';
import { noLimits } from '@latchkey/rules/limits/limits';
import type { Service } from '@latchkey/rules/service';
import type { OperationInput, OperationName, OperationOutput } from '@latchkey/schema';
import { call } from './call.ts';
import { operatorWithoutSecret } from './caller.ts';
import { operationNamed } from './operation.ts';
import { StreamedOutput } from './streamed-output.ts';

export type OperatorOperation = Extract<OperationName, `admin.${string}`>;

export type InsideCaller = { by: 'operator' } | { by: 'command_line'; os_user: string };

const LINKING_IS_OFF =
  'SIGN_IN_URL is not set, so the linking flow is off. Give commands the settings of the service. Example: SIGN_IN_URL=https://host.example/sign-in';

const DOCUMENTS_ARE_OFF =
  'CLIENT_DOCUMENTS is off, so there are no client documents. Give commands the settings of the service. Example: CLIENT_DOCUMENTS=claude.ai';

const EVENTS_ARE_OFF =
  'EVENTS_KEY is not set, so events are off. Give commands the settings of the service. Example: EVENTS_KEY_FILE=/run/secrets/events_key';

/** Calls as the operator, without a secret and without limits. */
export async function callOperation<Name extends OperatorOperation>(
  service: Service,
  name: Name,
  input: OperationInput<Name>,
  caller: InsideCaller = { by: 'operator' },
): Promise<OperationOutput<Name>> {
  const operation = operationNamed<OperatorOperation>(name);
  if (operation.needsLinking && service.linking === null) throw new BadSetting(LINKING_IS_OFF);
  if (operation.needsDocuments && service.linking?.clientDocuments == null) {
    throw new BadSetting(DOCUMENTS_ARE_OFF);
  }
  if (operation.needsEvents && service.events === null) throw new BadSetting(EVENTS_ARE_OFF);
  const request = {
    redacted: { request_id: newId(service.clock()), address: null },
    address: undefined,
    // No request was received, so no Host header tells the address.
    publicUrl: () => service.linking?.publicUrl ?? '',
    waitedForBody: false,
    response: null,
  };
  const output = await call({ service, limits: noLimits }, operation, {
    ...caller,
    authenticate: async () => operatorWithoutSecret,
    readInput: async () => input,
    request,
    summary: {},
  });
  const whole = output instanceof StreamedOutput ? await output.whole() : output;
  return whole as OperationOutput<Name>;
}
