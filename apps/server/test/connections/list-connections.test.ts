import {
  listConnections,
  listConnectionsWithGrants,
} from '@latchkey/rules/connections/list-connections';
import type { ConnectedGrant } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import {
  aChoice,
  anAccount,
  anApplication,
  anId,
  aResource,
  aScope,
} from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';

const account = anAccount();
const [a, b, deleted] = [
  anApplication({ name: 'A' }),
  anApplication({ name: 'B' }),
  anApplication({ name: 'C' }),
];
const described = aScope({ scope: 'posts.read' });
const undescribed = { scope: 'x', title: 'x', description: null, texts: {}, sensitive: false };

// More than the rules read at once, newest first.
const grants = Array.from({ length: 480 }, (_, age): ConnectedGrant => {
  const application_id = ([b, a, deleted][age % 3] ?? a).id;
  const scope = age < 120 ? 'posts.read' : 'x posts.read';
  return {
    ...{ grant_id: anId(), application_id, resource: null, choice: null, scope },
    ...{
      created_at: 1_000 - age,
      last_used_at: age % 6 < 3 ? null : 2_000 - age,
      revoked_at: null,
    },
  };
});

const connectedAt = (id: string) =>
  Math.min(...grants.flatMap((grant) => (grant.application_id === id ? grant.created_at : [])));

const mcp = aResource({ resource: 'https://mcp.example/mcp', name: 'Notes' });

// By code points, which are not the order of UTF-16; then by id.
const [ida, ido] = [aChoice({ id: 'a' }), aChoice({ id: 'o' })];
const [zoo, astral] = [aChoice({ label: '\ufb00' }), aChoice({ label: '𝒜' })];

const store = {
  async listConnections(account_id) {
    const own = account_id === account.id ? [b, a, deleted] : [];
    return own.map(({ id }) => ({
      application_id: id,
      scopes: ['posts.read', 'x posts.read'],
      resources: id === a.id ? ['https://gone.example', mcp.resource] : [],
      choices: id === a.id ? [zoo, ida, ido, astral] : [],
      connected_at: connectedAt(id),
      last_used_at: id === a.id ? 2_000 - 4 : 2_000 - 3,
    }));
  },
  async listActiveGrants({ application_id }, { limit, before }) {
    const own = grants.filter((grant) => grant.application_id === application_id);
    const first = own.findIndex(({ grant_id }) => grant_id === before) + 1;
    return own.slice(first, first + limit);
  },
  listScopes: async () => [described],
  listResources: async () => [mcp],
  findApplication: async (id) => [a, b].find((application) => application.id === id) ?? null,
} satisfies Partial<Store> as unknown as Store;

const service = { store, linking: null };
const shown = (application: typeof a) => ({
  ...application,
  vouched: true,
  host: null,
  claim: null,
  device: null,
});
const scopes = [described, undescribed];
const resources = [
  { resource: 'https://gone.example', name: 'https://gone.example' },
  { resource: mcp.resource, name: mcp.name },
];
const connections = [
  {
    application: shown(a),
    scopes,
    resources,
    choices: [ida, ido, zoo, astral],
    connected_at: 1_000 - 478,
    last_used_at: 2_000 - 4,
  },
  {
    application: shown(b),
    scopes,
    resources: [],
    choices: [],
    connected_at: 1_000 - 477,
    last_used_at: 2_000 - 3,
  },
];

test('a connection is the sum of its grants, and has none of them', async () => {
  expect(await listConnections(service, account.id)).toEqual(connections);
  expect(await listConnections(service, anId())).toEqual([]);
});

test('a connection has all of its grants, newest first', async () => {
  const grantsOf = (id: string) => grants.filter(({ application_id }) => application_id === id);
  expect(await listConnectionsWithGrants(service, account.id)).toEqual(
    connections.map((connection) => ({
      ...connection,
      grants: grantsOf(connection.application.id),
    })),
  );
});
