import { DomainError } from '@latchkey/domain/domain-error';
import { CLIENTS_PATH } from '@latchkey/rules/registration/registered-clients';
import { inputs } from '@latchkey/schema';
import type { Action } from '../../operations/action.ts';
import { type CallContext, call } from '../../operations/call.ts';
import type { Visitor } from '../../operations/caller.ts';
import { issuesOf } from '../../operations/input.ts';
import { getClient, registerClient } from '../../operations/registration-actions.ts';
import { jsonMembers, readJson } from '../body.ts';
import type { RequestContext, RequestedCall } from '../request-context.ts';
import { sendJson } from '../response.ts';
import { type Route, splitTarget } from '../router.ts';

export const REGISTRATION_PATH = '/oauth/register';

/** None while nobody registers. */
export function registrationRoutes(callContext: CallContext): Route[] {
  const { linking } = callContext.service;
  if (linking?.registeredClients.isOn !== true) return [];

  const callBy = <Output extends object, Input extends object>(
    context: RequestContext,
    action: Action<Output, Input, Visitor>,
    readInput: () => Promise<NoInfer<Input>>,
  ) =>
    call(callContext, action, {
      authenticate: async () => ({ kind: 'visitor', address_key: null }),
      readInput,
      request: context,
      summary: context.calls[0] as RequestedCall,
    });

  return [
    {
      method: 'POST',
      path: REGISTRATION_PATH,
      actions: [registerClient],
      async handle(context) {
        const client = await callBy(context, registerClient, async () => {
          const members = jsonMembers(await readJson(context), false);
          const { data, error } = inputs.registrationInput.safeParse(members);
          if (data !== undefined) return data;
          throw new DomainError('registration_invalid', { issues: issuesOf(error) });
        });
        sendJson(context, 201, client);
      },
    },
    {
      method: 'GET',
      path: `${CLIENTS_PATH}/{document}`,
      actions: [getClient],
      async handle(context) {
        // As it was sent: a segment in another spelling is another address.
        const { path } = splitTarget(context.request.url ?? '');
        const client_id = linking.publicUrl + path;
        sendJson(context, 200, await callBy(context, getClient, async () => ({ client_id })));
      },
    },
  ];
}
