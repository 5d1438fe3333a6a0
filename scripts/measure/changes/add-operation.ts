import type { Change } from './change.ts';

const NAME = 'admin.scopes.get';

const TEST = `import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOperatorCommand } from './support/operator-command.ts';

let service: TestServer;
const entry = {
  ...{ object: 'scope', scope: 'profile.read', title: 'profile.read', description: null },
  ...{ texts: {}, sensitive: false, resources: ['https://mcp.example/mcp'] },
};

beforeAll(async () => {
  service = await createTestServer({ scopes: ['profile.read'] });
  const admin = adminOf(service);
  const resource = 'https://mcp.example/mcp';
  await admin.resources.create({ resource, name: 'Notes', scopes: ['profile.read'] });
});
afterAll(() => service.close());

const adminOf = ({ baseUrl, adminSecret }: TestServer) =>
  new LatchkeyAdmin({ baseUrl, adminSecret });

async function get(path: string): Promise<unknown> {
  const headers = { Authorization: \`Bearer \${service.adminSecret}\` };
  const response = await fetch(service.baseUrl + path, { headers });
  return { status: response.status, body: await response.json() };
}

test('a scope is described over REST', async () => {
  expect(await get('/admin/scopes/profile.read')).toEqual({ status: 200, body: entry });
  expect(await get('/admin/scopes/none')).toMatchObject({
    ...{ status: 404, body: { error_code: 'scope_not_found' } },
  });
});

test('a scope is described over tRPC', async () => {
  const input = encodeURIComponent(JSON.stringify({ scope: 'profile.read' }));
  expect(await get(\`/trpc/admin.scopes.get?input=\${input}\`)).toEqual({
    ...{ status: 200, body: { result: { data: entry } } },
  });
});

test('a scope is described by the SDK', async () => {
  const admin = adminOf(service);
  expect(await admin.scopes.get({ scope: 'profile.read' })).toMatchObject(entry);
});

test('a scope is described on the command line', async () => {
  const words = ['scope', 'get', 'profile.read'];
  expect(JSON.parse(await runOperatorCommand(service, [...words, '--json']))).toEqual(entry);
  expect(await runOperatorCommand(service, words)).toContain('https://mcp.example/mcp');
});
`;

/** An operation of the operator that reads, with a result of its own. */
export const addOperation: Change = {
  name: 'add one read operation',
  guide: 'Add an operation',
  files: {
    'packages/schema/src/operations.ts': [
      {
        at: "  'admin.scopes.delete': {\n",
        before: `  '${NAME}': {
    method: 'GET',
    path: '/admin/scopes/{scope}',
    caller: 'operator',
    roles: ['read', 'support', 'operate'],
    summary: 'Get the description of a scope',
    description: 'The description of a scope, and the resources that name it.',
    input: input.scopeNameInput,
    output: object.scopeEntry,
    errors: ['scope_not_found'],
  },
`,
      },
    ],
    'packages/schema/src/objects.ts': [
      {
        at: 'export const scopeList = ',
        before: `export const scopeEntry = scopeDescription
  .extend({
    resources: z.array(z.string()).meta({ description: 'The resources that name it.' }),
  })
  .meta({ id: 'ScopeEntry', description: 'A scope, with the resources that name it.' });

`,
      },
    ],
    'apps/server/src/operations/scopes.ts': [
      {
        at: "  'admin.scopes.delete': {\n",
        before: `  '${NAME}': {
    audited: 'refusals',
    ids: { scope: 'input.scope' },
    handle: async ({ store }, { scope: name }) => {
      const scope = (await store.listScopes()).find((one) => one.scope === name);
      if (scope === undefined) throw new DomainError('scope_not_found');
      const naming = (await store.listResources()).filter(({ scopes }) => scopes?.includes(name));
      return { ...toScope(scope), resources: naming.map(({ resource }) => resource) };
    },
  },
`,
      },
    ],
    'apps/server/test/openapi/record-examples.ts': [
      {
        at: "await record('admin.scopes.list', {});\n",
        after: `await record('${NAME}', { scope: 'posts.read' });\n`,
      },
    ],
    'apps/server/test/cases/registry.ts': [
      {
        at: "  'admin.scopes.list': { input: () => ({}) },\n",
        after: `  '${NAME}': {
    input: () => ({ scope: 'eve' }),
    faults: {
      scope_not_found: { 'it is not described': () => ({ input: { scope: 'nobody.knows' } }) },
    },
  },
`,
      },
    ],
    'tests/scope-entry.test.ts': TEST,
  },
  tests: [
    'tests/scope-entry.test.ts',
    'tests/operations.test.ts',
    'packages/schema/src/operations.test.ts',
    'apps/server/test/http/store-unavailable.test.ts',
    'apps/server/test/http/keys.test.ts',
    'apps/server/test/http/openapi.test.ts',
    'apps/server/test/hostile/values.test.ts',
    'apps/server/test/cli/help.test.ts',
    'packages/client/src/admin/latchkey-admin.test.ts',
  ],
  proofs: ['tests/scope-entry.test.ts'],
};
