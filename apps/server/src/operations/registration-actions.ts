import { DomainError } from '@latchkey/domain/domain-error';
import { linkingOf } from '@latchkey/rules/linking/linking';
import type {
  AskedRegistration,
  RegisteredClient,
} from '@latchkey/rules/registration/registered-clients';
import type { RegisteredClient as RegisteredClientObject } from '@latchkey/schema';
import type { Action } from './action.ts';
import type { Visitor } from './caller.ts';

type OfAnybody<Input extends object> = Action<RegisteredClientObject, Input, Visitor>;

/** They change nothing, and so nothing but a refusal is audited. */
const columns = {
  caller: 'visitor',
  changes: false,
  counts: 'nothing',
  audited: 'refusals',
  input: null,
  ids: {},
} as const;

export const registerClient: OfAnybody<AskedRegistration> = {
  ...columns,
  name: 'clients.register',
  handle: async (service, asked) =>
    toRegisteredClient(linkingOf(service).registeredClients.register(asked)),
};

export const getClient: OfAnybody<{ client_id: string }> = {
  ...columns,
  name: 'clients.get',
  async handle(service, { client_id }) {
    const client = linkingOf(service).registeredClients.find(client_id);
    if (client === null) throw new DomainError('route_not_found');
    return toRegisteredClient(client);
  },
};

/** RFC 7591, section 3.2.1. */
const toRegisteredClient = ({
  client_id,
  client_name,
  redirect_uris,
}: RegisteredClient): RegisteredClientObject => ({
  client_id,
  ...(client_name !== null && { client_name }),
  redirect_uris,
  grant_types: ['authorization_code'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
});
