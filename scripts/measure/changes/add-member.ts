import type { Change } from './change.ts';

const TEST = `import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createTestServer, type TestServer } from '@latchkey/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runOperatorCommand } from './support/operator-command.ts';

const REMARK = 'Ask Ada first.';
let service: TestServer;
let application_id: string;

beforeAll(async () => {
  service = await createTestServer();
  const admin = adminOf(service);
  ({ id: application_id } = await admin.applications.create({ name: 'Acme' }));
});
afterAll(() => service.close());

const adminOf = ({ baseUrl, adminSecret }: TestServer) =>
  new LatchkeyAdmin({ baseUrl, adminSecret });

async function send(path: string, method: string, body?: object) {
  const headers = {
    Authorization: \`Bearer \${service.adminSecret}\`,
    ...(body && { 'Content-Type': 'application/json' }),
  };
  const text = body ? JSON.stringify(body) : null;
  const response = await fetch(service.baseUrl + path, { method, headers, body: text });
  return { status: response.status, body: await response.json() };
}

test('an application has no remark, and gets and loses one over REST', async () => {
  const path = \`/admin/applications/\${application_id}\`;
  expect(await send(path, 'GET')).toMatchObject({ status: 200, body: { remark: null } });
  for (const remark of [REMARK, null]) {
    expect(await send(path, 'PATCH', { remark })).toMatchObject({ body: { remark } });
    expect(await send(path, 'GET')).toMatchObject({ body: { remark } });
  }
});

test('an application has a remark over tRPC', async () => {
  const input = { name: 'Acme', remark: REMARK };
  expect(await send('/trpc/admin.applications.create', 'POST', input)).toMatchObject({
    body: { result: { data: { remark: REMARK } } },
  });
});

test('an application gets a remark by the SDK', async () => {
  const admin = adminOf(service);
  const changed = await admin.applications.update({ application_id, remark: REMARK });
  expect(changed.remark).toBe(REMARK);
});

test('an application has a remark on the command line', async () => {
  const json = await runOperatorCommand(service, [
    ...['app', 'create', 'Acme', '--remark', REMARK, '--json'],
  ]);
  const { id, remark } = JSON.parse(json);
  expect(remark).toBe(REMARK);
  expect(await runOperatorCommand(service, ['app', 'get', id])).toContain(REMARK);
});
`;

/** A text that only operators see. */
export const addMember: Change = {
  name: 'add one optional member of an application',
  guide: 'Add a member of an application',
  files: {
    'packages/schema/src/inputs.ts': [
      {
        at: '  idle_days: wholeNumber(',
        before: `  remark: textOf(200)
    .nullable()
    .meta({ description: 'What operators note of it. Only they see it.' }),
`,
      },
      {
        at: '  idle_days: applicationMembers',
        before: '  remark: applicationMembers.remark.default(null),\n',
      },
    ],
    'packages/schema/src/objects.ts': [
      {
        at: '    idle_days: z',
        before: `    remark: z.string().nullable().meta({
      description: 'What operators note of it. Only they see it.',
    }),
`,
      },
    ],
    'packages/store/src/kinds.ts': [
      {
        at: '    /** Days after which an unused grant ends; null for never. */\n',
        before: '    /** What operators note of it. */\n    remark: optional(text()),\n',
      },
    ],
    'packages/store/src/application-members.ts': [
      { at: '  idle_days: null,\n', before: '  remark: null,\n' },
    ],
    'apps/server/src/operations/wire.ts': [
      {
        at: '    idle_days: ',
        before: '    remark: application.remark,\n',
      },
    ],
    'packages/schema/src/inputs.property.test.ts': [
      {
        at: '    idle_days: or(',
        before: '    remark: or(orNull(text), null),\n',
      },
      {
        at: '    idle_days: optional(',
        before: '    remark: optional(orNull(text)),\n',
      },
    ],
    'apps/server/test/http/success-shapes.test.ts': [
      { at: '      idle_days: ', before: '      remark: null,\n' },
    ],
    'apps/server/test/cases/applications.ts': [
      {
        at: "  default_scopes: ['profile.read'],\n};\n",
        before: "  remark: 'Ask Ada first.',\n",
      },
    ],
    'docs/protocol/limits.md': [
      {
        at: '| `idle_days` ',
        before:
          '| `remark`                                                                                                             | 1     | 200    | characters                               |\n',
      },
    ],
    'tests/application-remark.test.ts': TEST,
  },
  tests: [
    'tests/application-remark.test.ts',
    'tests/protocol.test.ts',
    'packages/schema/src/inputs.test.ts',
    'packages/schema/src/inputs.property.test.ts',
    'packages/store-sqlite/test/sqlite-store.test.ts',
    'packages/store-sqlite/test/statements.test.ts',
    'apps/server/test/http/applications.test.ts',
    'apps/server/test/http/success-shapes.test.ts',
    'apps/server/test/hostile/values.test.ts',
    'apps/server/test/cli/linking-commands.test.ts',
    'apps/server/test/cli/help.test.ts',
    'apps/server/test/client-documents/flow.test.ts',
    'apps/server/test/linking/registration.test.ts',
  ],
  proofs: ['tests/application-remark.test.ts'],
};
