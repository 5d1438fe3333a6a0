import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Connection,
  type ConnectionPlace,
  listConnections,
} from '@latchkey/rules/connections/list-connections';
import type { Service } from '@latchkey/rules/service';
import { createPace } from '@latchkey/rules/work/pace';
import { createTurns } from '@latchkey/rules/work/turns';
import type { ApplicationRecord, ConnectedGrant } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import {
  aChoice,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aResource,
  aScope,
} from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { browserActions } from '../../src/operations/browser-actions.ts';
import type { Callers } from '../../src/operations/caller.ts';

const account = anAccount();
const [a, b, deleted] = [
  anApplication({ name: 'A' }),
  anApplication({ name: 'B' }),
  anApplication({ name: 'C' }),
];
const described = aScope({ scope: 'posts.read' });
const undescribed = { scope: 'x', title: 'x', description: null, texts: {}, sensitive: false };

// Newest first.
const ids = Array.from({ length: 480 }, anId).reverse();
const grants = ids.map((grant_id, age): ConnectedGrant => {
  const application_id = ([b, a, deleted][age % 3] ?? a).id;
  const scope = age < 120 ? 'posts.read' : 'x posts.read';
  return {
    ...{ grant_id, application_id, resource: null, choice: null, scope },
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
  const asked: string[] = [];
  const [read, grantsRead]: [number[], number[]] = [[], []];
  const store = {
    async listConnected(account_id, { limit, after }) {
      const connected = [...applications, deleted]
        .map((one) => ({ application_id: one.id, application: one === deleted ? null : one }))
        .toSorted((one, other) => (one.application_id < other.application_id ? -1 : 1))
        .filter(({ application_id }) => account_id === account.id && application_id > (after ?? ''))
        .slice(0, limit);
      read.push(connected.length);
      const next = connected.length < limit ? null : (connected.at(-1)?.application_id ?? null);
      return { connected, next };
    },
    async listActiveGrants({ application_id }, { limit, before }) {
      asked.push(application_id);
      if (ended.some(({ id }) => id === application_id)) return [];
      const found = ofApplication({ id: application_id })
        .filter(({ grant_id }) => before === null || grant_id < before)
        .slice(0, limit);
      grantsRead.push(found.length);
      return found;
    },
    findApplication: async (id) => applications.find((one) => one.id === id) ?? null,
    listScopes: async () => [described],
    listResources: async () => [mcp],
  } satisfies Partial<Store> as unknown as Store;
  const { inSteps } = createPace({ inProcess: true });
  const lists = { turns: createTurns(), inSteps };
  return { service: { store, linking: null, lists }, asked, read, grantsRead };
}

const whole = { account_id: account.id, limit: 50, after: null, inTurn: true };

/** The applications of all pages. */
async function inPages(service: ReturnType<typeof storeOf>['service'], limit: number) {
  const found: Connection['application'][] = [];
  let after: ConnectionPlace | null = null;
  do {
    const page = await listConnections(service, { ...whole, limit, after });
    found.push(...page.connections.map(({ application }) => application));
    after = page.next;
  } while (after !== null);
  return found;
}

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
      grants: ofApplication(a).slice(0, 100),
      grants_total: 160,
    },
    {
      application: { ...b, ...shown },
      ...{ scopes, resources: [], choices: [] },
      ...{ connected_at: 1_000 - 477, last_used_at: 2_000 - 3 },
      grants: ofApplication(b).slice(0, 100),
      grants_total: 160,
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
  const found = (await inPages(service, 3)).map(({ name }) => name);
  expect(found).toEqual(['B', 'a', 'a', 'b', 'é', '\ufb00', '𝒜']);
  const [, first, , , second] = named.map(({ id }) => id);
  expect(asked.slice(1, 3)).toEqual([first, second].toSorted());
  // One more than a page shows whether there are more.
  expect(asked).toHaveLength(4 + 4 + 1);
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

test('an account that allows thousands has each once, and they are read in parts', async () => {
  const named = Array.from({ length: 2_500 }, (_, nth) => {
    const name = `${nth % 7}`;
    return { ...anApplication({ name }), sorted: name };
  });
  const [one] = grants as [ConnectedGrant];
  for (const { id } of named) grants.push({ ...one, application_id: id });
  const byName = named.toSorted(
    (one, other) => Number(one.sorted) - Number(other.sorted) || (one.id < other.id ? -1 : 1),
  );
  // Of more than are held at once, all have ended.
  const { service, read } = storeOf(named, byName.slice(0, 1_200));
  const found = (await inPages(service, 600)).map(({ id }) => id);
  expect(found).toEqual(byName.slice(1_200).map(({ id }) => id));
  expect(Math.max(...read)).toBeLessThanOrEqual(200);
});

test('an application with thousands of grants is read in parts, and has the newest', async () => {
  const application = anApplication({ name: 'many' });
  const made = Array.from({ length: 2_500 }, anId).reverse();
  const [one] = grants as [ConnectedGrant];
  const { id: application_id } = application;
  for (const grant_id of made) grants.push({ ...one, grant_id, application_id });
  const { service, grantsRead } = storeOf([application]);
  const { connections } = await listConnections(service, whole);
  expect(connections).toMatchObject([{ grants_total: 2_500 }]);
  expect(connections[0]?.grants.map(({ grant_id }) => grant_id)).toEqual(made.slice(0, 100));
  expect(Math.max(...grantsRead)).toBeLessThanOrEqual(1_000);
});

test('of the views of an account with many, one reads at a time, and with few none waits', async () => {
  for (const [count, expected] of [
    [20, 3],
    [60, 1],
  ] as const) {
    const named = Array.from({ length: count - 1 }, () => anApplication());
    for (const { id } of named)
      grants.push({ ...(grants[0] as ConnectedGrant), application_id: id });
    const { service } = storeOf(named);
    const { store } = service;
    let [reading, most] = [0, 0];
    const listConnected: Store['listConnected'] = async (id, range) => {
      const isFirst = range.after === null;
      if (!isFirst || count === 20) most = Math.max(most, ++reading);
      await sleep(1);
      if (!isFirst || count === 20) reading -= 1;
      return store.listConnected(id, range);
    };
    const slow = { ...service, store: { ...store, listConnected } } as unknown as Service;
    const user = { kind: 'user', page: { account_id: account.id } } as unknown as Callers['user'];
    const { handle } = browserActions.showConnections;
    const view = () => handle(slow, { done: null, after: null }, user, anInitiator(), {} as never);
    const views = await Promise.all([view(), view(), view()]);
    for (const { list } of views) expect(list.connections).toHaveLength(Math.min(count - 1, 50));
    expect(most).toBe(expected);
  }
});
