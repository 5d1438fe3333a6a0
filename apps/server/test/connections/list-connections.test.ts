import {
  type ConnectionPlace,
  listConnections,
} from '@latchkey/rules/connections/list-connections';
import type { ApplicationRecord, ConnectedGrant } from '@latchkey/store/records';
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

// Newest first.
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

const mcp = aResource({ resource: 'https://mcp.example/mcp', name: 'Notes' });
const gone = 'https://gone.example';

// By code points, which are not the order of UTF-16; then by id.
const [ida, ido] = [aChoice({ id: 'a' }), aChoice({ id: 'o' })];
const [zoo, astral] = [aChoice({ label: '\ufb00' }), aChoice({ label: '𝒜' })];
Object.assign(grants[1] ?? {}, { resource: mcp.resource, choice: astral });
Object.assign(grants[4] ?? {}, { resource: gone, choice: ido });
Object.assign(grants[7] ?? {}, { resource: mcp.resource, choice: zoo });
Object.assign(grants[10] ?? {}, { choice: ida });
Object.assign(grants[13] ?? {}, { choice: { ...ido } });

const ofApplication = ({ id }: { id: string }) =>
  grants.filter(({ application_id }) => application_id === id);

/** A store where an account has these applications, of which some have ended since they were listed. */
function storeOf(applications: ApplicationRecord[], ended: ApplicationRecord[] = []) {
  const asked: string[][] = [];
  const store = {
    async listConnected(account_id) {
      if (account_id !== account.id) return [];
      const connected = applications.map((application) => ({
        ...{ application_id: application.id, application },
      }));
      return [...connected, { application_id: deleted.id, application: null }];
    },
    async listConnections({ application_ids }) {
      asked.push([...application_ids]);
      return applications
        .filter((one) => application_ids.includes(one.id) && !ended.includes(one))
        .map((application) => ({ application, grants: ofApplication(application) }))
        .reverse();
    },
    listScopes: async () => [described],
    listResources: async () => [mcp],
  } satisfies Partial<Store> as unknown as Store;
  return { service: { store, linking: null }, asked };
}

const whole = { account_id: account.id, limit: 50, after: null };

test('a connection is the sum of its active grants', async () => {
  const { service } = storeOf([b, a]);
  const { connections, next } = await listConnections(service, whole);
  const shown = { vouched: true, host: null, claim: null, device: null };
  const scopes = [described, undescribed];
  expect(connections).toEqual([
    {
      application: { ...a, ...shown },
      scopes,
      resources: [
        { resource: gone, name: gone },
        { resource: mcp.resource, name: mcp.name },
      ],
      choices: [ida, ido, zoo, astral],
      ...{ connected_at: 1_000 - 478, last_used_at: 2_000 - 4 },
      grants: ofApplication(a),
    },
    {
      application: { ...b, ...shown },
      ...{ scopes, resources: [], choices: [] },
      ...{ connected_at: 1_000 - 477, last_used_at: 2_000 - 3 },
      grants: ofApplication(b),
    },
  ]);
  expect(next).toBeNull();
  const unknown = await listConnections(service, { ...whole, account_id: anId() });
  expect(unknown).toEqual({ connections: [], next: null });
});

test('connections are in pages by name in code points, then by id, and each is read once', async () => {
  const named = ['b', 'a', '𝒜', '\ufb00', 'a', 'B', 'é'].map((name) => anApplication({ name }));
  for (const { id } of named) grants.push({ ...(grants[0] as ConnectedGrant), application_id: id });
  const { service, asked } = storeOf(named);
  const found: string[] = [];
  let after: ConnectionPlace | null = null;
  do {
    const page = await listConnections(service, { ...whole, limit: 3, after });
    found.push(...page.connections.map(({ application }) => application.name));
    after = page.next;
  } while (after !== null);
  expect(found).toEqual(['B', 'a', 'a', 'b', 'é', '\ufb00', '𝒜']);
  const [, first, , , second] = named.map(({ id }) => id);
  expect(asked.flat().slice(1, 3)).toEqual([first, second].toSorted());
  expect(asked.map(({ length }) => length)).toEqual([4, 4, 1]);
  // A place stays where it is without its application.
  const { next } = await listConnections(service, { ...whole, limit: 2 });
  const rest = await listConnections(storeOf(named.slice(2)).service, { ...whole, after: next });
  expect(rest.connections.map(({ application }) => application.name)).toEqual(
    // The older "a" is the last one of the first page.
    ['a', 'é', '\ufb00', '𝒜'],
  );
});

test('a page is full although some have ended while it was read', async () => {
  const named = ['a', 'b', 'c', 'd'].map((name) => anApplication({ name }));
  for (const { id } of named) grants.push({ ...(grants[0] as ConnectedGrant), application_id: id });
  const { service } = storeOf(named, named.slice(1, 3));
  const page = await listConnections(service, { ...whole, limit: 2 });
  expect(page.connections.map(({ application }) => application.name)).toEqual(['a', 'd']);
  expect(page.next).toBeNull();
});
