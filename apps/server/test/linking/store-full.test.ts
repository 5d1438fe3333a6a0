import { randomUUID } from 'node:crypto';
import { type OperationName, operationNames, operations } from '@latchkey/schema';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { credentialFor, inputsOf } from '../cases/cases.ts';
import { errorCases, linkingErrorCases } from '../cases/errors.ts';
import { aDocument, DOCUMENTS, newWorld } from '../cases/world.ts';
import { invoke, type Json, send, succeed } from '../http/call.ts';
import { type FreshDatabase, mongoDatabase, sqliteDatabase } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import {
  EVENTS,
  operator,
  startTestServer,
  type TestServer,
  useServer,
} from '../http/running-server.ts';
import { authorize, LINKING, type LinkingApplication, linkingApplication } from './link-flow.ts';
import { openConsent, visit } from './page-flow.ts';

const SETTINGS = { ...LINKING, ...EVENTS, ...DOCUMENTS };

// Of two servers on one database, one finds too little room, whatever the disk of this machine has. PostgreSQL does not
// tell what is free.

describe('a database without room on SQLite', () => refusesRecords(sqliteDatabase));
describeOnMongodb('a database without room', (server) =>
  refusesRecords(() => mongoDatabase(server)),
);

function refusesRecords(fresh: FreshDatabase): void {
  const before = useServer(fresh, SETTINGS);
  let server: TestServer;
  let app: LinkingApplication;
  beforeAll(async () => {
    app = await linkingApplication(before);
    server = await startTestServer(before.database.url, { ...SETTINGS, MIN_FREE_MB: '1048576' });
  });
  afterAll(() => server.close());

  const call = async (name: OperationName, input: Json, as = operator) => {
    const { status, headers, body } = await invoke(server, 'REST', name, input, as);
    return { status, retryAfter: headers.get('retry-after'), error_code: body.error_code, body };
  };
  const full = { status: 503, retryAfter: '60', error_code: 'store_full' };

  const needsRoom = (name: OperationName) =>
    (operations[name].errors as readonly string[]).includes('store_full');

  test('refuses what makes a record, and only that', async () => {
    const world = await newWorld(before);
    const inputs = inputsOf(world);
    // What is there is replaced, which needs no room.
    const { account_id, document_uri } = world;
    for (const [name, input] of [
      ['admin.accounts.put', { account_id, username: 'ada' }],
      ['admin.documents.pin', aDocument(document_uri)],
    ] as const) {
      expect([name, (await call(name, input)).status]).toEqual([name, 200]);
    }
    inputs['admin.accounts.put'].account_id = randomUUID();
    const named = operationNames.filter(needsRoom);
    for (const name of named) {
      expect(await call(name, inputs[name]), name).toMatchObject(full);
      const { error_code } = await call(name, { ...inputs[name], offset: 1 });
      expect([name, error_code]).toEqual([name, 'parameter_invalid']);
    }
    const others = operationNames.filter((name) => !needsRoom(name));
    let shared = world;
    const callIn = (name: OperationName) =>
      call(name, inputsOf(shared)[name], credentialFor(name, shared));
    for (const name of others) {
      const { application_id } = shared;
      if (name === 'admin.applications.delete') {
        await call('admin.applications.disable', { application_id });
      }
      let answer = await callIn(name);
      // One before it has ended something that it needs.
      if (answer.status !== 200) {
        shared = await newWorld(before);
        answer = await callIn(name);
      }
      expect([name, answer.status, answer.error_code]).toEqual([name, 200, undefined]);
    }
    const page = await authorize(server, app.request);
    expect([page.status, page.headers.get('retry-after')]).toEqual([503, '60']);
    expect(page.text).toContain('store_full');
  });

  const refusedFirst = [...errorCases, ...linkingErrorCases].filter(({ name }) => needsRoom(name));

  test.each(refusedFirst)('is not said instead of $code of $name: $when', async (refusal) => {
    const linked = await linkedApplication(before);
    const { request } = await refusal.arrange({ server: before, wire: 'REST', linked });
    server.advance(before.now() - server.now());
    const { json } = await send(server, request);
    expect(json.error_code).toBe(refusal.code);
  });

  test('is not said of an authorization request that is refused, nor of an approval that was made', async () => {
    const unknown = await authorize(server, { ...app.request, scope: 'nothing' });
    expect(unknown.status).toBe(303);
    const { account_id } = app;
    const { link } = await app.begin();
    const approved = await succeed(before, 'admin.links.approve', { link, account_id }, operator);
    const again = await call('admin.links.approve', { link, account_id });
    expect([again.status, again.body.redirect_to]).toEqual([200, approved.redirect_to]);
    const own = (await app.begin()).link;
    const identified = await call('admin.links.identify', {
      link: own,
      account_id,
      own_page: true,
    });
    expect(identified.status).toBe(200);
    expect((await send(server, { method: 'GET', path: '/readyz' })).status).toBe(200);
  });

  test('lets a user deny on the page, and try Allow again', async () => {
    const page = await openConsent(before, app);
    const press = (decision: string) =>
      visit(server, page.path, {
        cookie: page.cookie,
        form: { form_token: page.form_token, decision },
      });
    const refused = await press('allow');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
    expect(refused.text).toContain('store_full');
    expect((await press('deny')).status).toBe(303);
  });

  test('is told in the log once', () => {
    const told = server.lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg.includes('running out of room'));
    expect(told).toEqual([expect.objectContaining({ level: 50, min_free_mb: 1_048_576 })]);
  });
}
