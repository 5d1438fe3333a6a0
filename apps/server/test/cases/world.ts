import type { FullGrant } from '@latchkey/schema';
import { succeed } from '../http/call.ts';
import { pkce } from '../http/forms.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { linkingApplication } from '../linking/link-flow.ts';

/** The records that valid inputs name. */
export interface World extends Omit<LinkedApplication, 'link'> {
  grant: FullGrant;
  /** A code that was not converted, and everything that it is bound to. */
  pending: {
    grant_id: string;
    code: string;
    redirect_uri: string;
    code_verifier: string;
    resource: string;
  };
  /** An open link, and the account that it can be for. */
  link: string;
  resource: string;
  resource_id: string;
  endpoint_id: string;
  delivery_id: string;
  key_id: string;
  /** Of a pinned document. */
  document_uri: string;
}

export const aDocument = (document_uri: string) => ({
  document_uri,
  document: { client_id: document_uri, redirect_uris: ['https://app.example/cb'] },
});

/** What a server needs for every operation, besides events and the linking flow. */
export const DOCUMENTS = { CLIENT_DOCUMENTS: 'app.example' };

/** @param server - with the linking flow, events and client documents */
export async function newWorld(server: { url: string }): Promise<World> {
  const linked = await linkedApplication(server);
  const made = (name: Parameters<typeof succeed>[1], input: Record<string, unknown>) =>
    succeed(server, name, input, operator);
  const grant = await linked.link();
  const { id: resource_id, resource } = await made('admin.resources.create', {
    ...{ resource: `https://mcp.example/${linked.account_id}`, name: 'Notes' },
  });
  await made('admin.scopes.put', { scope: 'eve', title: 'Eve' });
  const { code_verifier, code_challenge } = pkce();
  const redirect_uri = 'https://app.example/cb';
  const issued = await linked.issue({ redirect_uri, code_challenge, resource });
  const { link } = await (await linkingApplication(server)).begin();
  // Nobody listens there.
  const url = 'https://192.0.2.1.invalid/events';
  const { id: endpoint_id } = await made('admin.endpoints.create', {
    ...{ url, application_id: linked.application_id },
  });
  const { id: delivery_id } = await made('admin.endpoints.ping', { endpoint_id });
  const { id: key_id } = await made('admin.keys.create', { name: 'Ada', role: 'read' });
  // The same for each world, since there can be 100.
  const { document_uri } = await made('admin.documents.pin', aDocument('https://app.example/pin'));
  return {
    document_uri,
    ...{ ...linked, grant, link, resource, resource_id, endpoint_id, delivery_id, key_id },
    pending: {
      grant_id: issued.grant_id,
      code: issued.code,
      redirect_uri,
      code_verifier,
      resource,
    },
  };
}
