import { randomUUID } from 'node:crypto';
import { type OperationName, operationNames, operations } from '@latchkey/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { credentialFor, inputsOf } from '../cases/cases.ts';
import { newWorld } from '../cases/world.ts';
import { invoke, type Json, send, succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import {
  EVENTS,
  operator,
  startTestServer,
  type TestServer,
  useServer,
} from '../http/running-server.ts';
import { authorize, LINKING, type LinkingApplication, linkingApplication } from './link-flow.ts';
import { identify, openConsent, visit } from './page-flow.ts';

const SETTINGS = { ...LINKING, ...EVENTS };

// Of two servers on one database, one finds too little room, whatever the disk of this machine has.

describeOnEachStore('a database without room', (fresh) => {
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
  const issue = () =>
    succeed(
      before,
      'admin.codes.issue',
      { application_id: app.application_id, account_id: app.account_id, scope: 'profile.read' },
      operator,
    );

  test('refuses what makes a record, and only that', async () => {
    const world = await newWorld(before);
    const inputs = inputsOf(world);
    // An account that is there is replaced, which needs no room.
    inputs['admin.accounts.put'].account_id = randomUUID();
    const needsRoom = (name: OperationName) =>
      (operations[name].errors as readonly string[]).includes('store_full');
    const named = operationNames.filter(needsRoom);
    for (const name of named) expect(await call(name, inputs[name]), name).toMatchObject(full);
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

  test('says so after every other refusal', async () => {
    const { application_id, account_id } = app;
    const nobody = randomUUID();
    const { link } = await app.begin();
    const expectCode = async (name: OperationName, input: Json, code: string) =>
      expect((await call(name, input)).error_code, name).toBe(code);
    const code = { application_id, scope: 'profile.read' };
    await expectCode('admin.applications.create', { name: '' }, 'parameter_invalid');
    const endpoint = { url: 'https://app.example/events' };
    const ofNoApplication = { ...endpoint, application_id: nobody };
    await expectCode('admin.endpoints.create', ofNoApplication, 'application_not_found');
    for (let have = 0; have < 5; have++) {
      await succeed(before, 'admin.endpoints.create', endpoint, operator);
    }
    await expectCode('admin.endpoints.create', endpoint, 'endpoint_limit_reached');
    await expectCode('admin.codes.issue', { ...code, account_id: nobody }, 'account_not_found');
    const ofNobody = { page: 'connections', account_id: nobody };
    await expectCode('admin.pages.create', ofNobody, 'account_not_found');
    await expectCode('admin.links.identify', { link, account_id: nobody }, 'account_not_found');
    await expectCode('admin.links.approve', { link, account_id: nobody }, 'account_not_found');
    const more = { link, account_id, scope: 'nothing' };
    await expectCode('admin.links.approve', more, 'scope_unknown');
    await call('admin.links.deny', { link });
    await expectCode('admin.links.identify', { link, account_id }, 'link_decided');
    await expectCode('admin.links.approve', { link, account_id }, 'link_decided');
    const unknown = await authorize(server, { ...app.request, scope: 'nothing' });
    expect(unknown.status).toBe(303);
  });

  test('lets everything else go on', async () => {
    const { application_id, account_id, bearer } = app;
    const ready = await send(server, { method: 'GET', path: '/readyz' });
    expect(ready.status).toBe(200);
    const good = async (name: OperationName, input: Json, as?: string) => {
      const { status, body } = await call(name, input, as);
      expect([name, status]).toEqual([name, 200]);
      return body;
    };
    const pending = await issue();
    const { code } = await issue();
    const { grant_id, grant_secret } = await good('grants.convert', { code }, bearer);
    await good('account.get', {}, `Bearer ${grant_secret}`);
    await good('admin.accounts.put', { account_id, username: 'ada' });
    await good('admin.scopes.put', { scope: 'photos.read', title: 'See your photos' });
    await good('admin.scopes.delete', { scope: 'photos.read' });

    const own = (await app.begin()).link;
    await good('admin.links.identify', { link: own, account_id, own_page: true });
    await good('admin.links.deny', { link: own });

    // What was approved before is told again.
    const { link } = await app.begin();
    await identify(before, link, { account_id });
    const approved = await succeed(before, 'admin.links.approve', { link, account_id }, operator);
    const again = await good('admin.links.approve', { link, account_id });
    expect(again.redirect_to).toBe(approved.redirect_to);

    await good('admin.codes.cancel', { grant_id: pending.grant_id });
    await good('grants.revoke', { grant_id }, bearer);
    await good('admin.connections.revoke', { account_id, application_id });
    await good('admin.pages.end', { account_id });
    await good('admin.applications.disable', { application_id });
    await good('admin.applications.enable', { application_id });
    await good('admin.accounts.erase', { account_id: randomUUID() });
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
});
