import {
  aConsentPage,
  aHash,
  aLink,
  anAccount,
  anApplication,
  anInitiator,
  approvalOf,
  aScope,
  identificationOf,
  identified,
} from '@latchkey/store-suite/records';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpResponse, invoke, type Json } from '../http/call.ts';
import { asBearer } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import {
  type FaultyService,
  isDurableWrite,
  lookAtOnce,
  overtakenIfSent,
  overtaken as overtakenOn,
  startBehindProxy,
} from './behind-proxy.ts';

// A command that was sent over a connection which then broke may lie about somewhere, in a network
// or in a database that stands still, and be executed long after its caller was answered. By then
// the world has gone on, and it must not be turned back.

describeOnEachMongodb('a write that arrives late,', (mongodb) => {
  let service: FaultyService;
  beforeAll(async () => {
    service = await startBehindProxy(mongodb, lookAtOnce);
  });
  afterAll(() => service.stop());

  const asOperator = (name: Parameters<typeof invoke>[2], input: Record<string, unknown>) =>
    invoke(service.server, 'REST', name, input, operator);
  const asApplication = (name: Parameters<typeof invoke>[2], input: Record<string, unknown>) =>
    invoke(service.server, 'REST', name, input, service.linked.bearer);
  const withSecret = async (grant_secret: string) =>
    (await invoke(service.server, 'REST', 'account.grant', {}, `Bearer ${grant_secret}`)).status;
  const ok = ({ status, body }: HttpResponse & { body: Json }): Json => {
    expect([status, body.error_code]).toEqual([200, undefined]);
    return body;
  };

  const overtaken = <T>(call: () => Promise<T>, which?: number) =>
    overtakenOn(service.proxy, call, which);

  test('a recovery leaves the secret of a later one', async () => {
    const { grant_id } = await service.linked.link();
    const recover = () => asApplication('grants.recover', { grant_id });
    const { answer, arrive } = await overtaken(recover);
    const first = ok(answer);
    const second = ok(await recover());
    await arrive();
    expect(await withSecret(first.grant_secret)).toBe(401);
    expect(await withSecret(second.grant_secret)).toBe(200);
  });

  test('a recovery of a grant that was recovered before leaves the secret of a later one', async () => {
    const { grant_id } = await service.linked.link();
    const recover = () => asApplication('grants.recover', { grant_id });
    ok(await recover());
    const { answer, arrive } = await overtaken(recover);
    ok(answer);
    const { grant_secret } = ok(await recover());
    await arrive();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('a recovery from before the exchange leaves the secret of the exchange', async () => {
    const { code, grant_id } = await service.linked.issue();
    const { answer, arrive } = await overtakenIfSent(service.proxy, () =>
      asApplication('grants.recover', { grant_id }),
    );
    expect(answer.body.error_code).toBe('grant_not_found');
    const { grant_secret } = ok(await asApplication('grants.convert', { code }));
    await arrive();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('a revocation from before the exchange leaves the grant, as it was said', async () => {
    const { code, grant_id } = await service.linked.issue();
    const { answer, arrive } = await overtakenIfSent(service.proxy, () =>
      asApplication('grants.revoke', { grant_id }),
    );
    expect(answer.body.error_code).toBe('grant_not_found');
    const { grant_secret } = ok(await asApplication('grants.convert', { code }));
    await arrive();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('an exchange leaves the secret that was answered', async () => {
    const { code } = await service.linked.issue();
    const { answer, arrive } = await overtaken(() => asApplication('grants.convert', { code }));
    const { grant_secret } = ok(answer);
    await arrive();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('an exchange leaves the secret of a recovery', async () => {
    const { code, grant_id } = await service.linked.issue();
    const { answer, arrive } = await overtaken(() => asApplication('grants.convert', { code }));
    ok(answer);
    const { grant_secret } = ok(await asApplication('grants.recover', { grant_id }));
    await arrive();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('an exchange makes no grant of a code that was cancelled', async () => {
    const { code, grant_id } = await service.linked.issue();
    const holding = service.proxy.holdNext(isDurableWrite);
    const answering = asApplication('grants.convert', { code });
    const held = await holding;
    ok(await invoke(service.witness, 'REST', 'admin.codes.cancel', { grant_id }, operator));
    held.cut();
    expect((await answering).body.error_code).toBe('code_not_found');
    await held.execute();
    expect(await service.witness.service.store.findCode(grant_id)).toBeNull();
  });

  test('an exchange and a recovery leave a grant revoked', async () => {
    const { code, grant_id } = await service.linked.issue();
    const exchange = await overtaken(() => asApplication('grants.convert', { code }));
    ok(exchange.answer);
    const recovery = await overtaken(() => asApplication('grants.recover', { grant_id }));
    const { grant_secret } = ok(recovery.answer);
    ok(await asApplication('grants.revoke', { grant_id }));
    await exchange.arrive();
    await recovery.arrive();
    expect(await withSecret(grant_secret)).toBe(401);
    const history = await service.witness.service.store.findGrantHistory(grant_id);
    expect(history?.revoked_at).not.toBeNull();
  });

  test('a first use leaves a recovered grant unused', async () => {
    const grant = await service.linked.link();
    const { grant_id } = grant;
    // Not any other write, such as one behind an earlier request.
    const holding = service.proxy.holdNext(
      (command) => isDurableWrite(command) && JSON.stringify(command).includes('first_used_at'),
    );
    const using = invoke(service.server, 'REST', 'account.grant', {}, asBearer(grant));
    const held = await holding;
    const { bearer } = service.linked;
    const { grant_secret } = ok(
      await invoke(service.witness, 'REST', 'grants.recover', { grant_id }, bearer),
    );
    held.cut();
    expect((await using).status).toBe(401);
    await held.execute();
    const at_rest = await service.witness.service.store.authenticateGrant(grant_id, {
      currentAccount: false,
    });
    expect(at_rest?.first_used_at).toBeNull();
    expect(await withSecret(grant_secret)).toBe(200);
  });

  test('a code does not come back once it was cancelled', async () => {
    const { application_id, account_id } = service.linked;
    const { answer, arrive } = await overtaken(() =>
      asOperator('admin.codes.issue', { application_id, account_id, scope: 'a' }),
    );
    const { code, grant_id } = answer.body;
    await asOperator('admin.codes.cancel', { grant_id });
    await arrive();
    // Where it was never told to anybody, what comes is of no use to anybody.
    if (code === undefined) expect(answer.body.error_code).toBe('outcome_unknown');
    else expect((await asApplication('grants.convert', { code })).status).toBe(400);
  });

  test('a secret of an application does not come back once it was removed', async () => {
    const { id: application_id } = ok(await asOperator('admin.applications.create', { name: 'x' }));
    const { answer, arrive } = await overtaken(() =>
      asOperator('admin.applications.secrets.create', { application_id }),
    );
    const { id: secret_id } = ok(answer);
    ok(await asOperator('admin.applications.secrets.revoke', { application_id, secret_id }));
    await arrive();
    const { secrets } = ok(await asOperator('admin.applications.get', { application_id }));
    expect(secrets.map(({ id }: Json) => id)).not.toContain(secret_id);
  });

  test('an application is not enabled again once it was disabled', async () => {
    const { id: application_id, secret } = ok(
      await asOperator('admin.applications.create', { name: 'x' }),
    );
    ok(await asOperator('admin.applications.disable', { application_id }));
    const { answer, arrive } = await overtaken(() =>
      asOperator('admin.applications.enable', { application_id }),
    );
    ok(answer);
    ok(await asOperator('admin.applications.disable', { application_id }));
    await arrive();
    const revoking = await invoke(
      service.server,
      'REST',
      'grants.revoke',
      { grant_id: application_id },
      `Bearer ${secret}`,
    );
    expect([revoking.status, revoking.body.error_code]).toEqual([403, 'application_disabled']);
  });

  test('an account stays as it was put last', async () => {
    const { account_id } = service.linked;
    const put = (username: string) => asOperator('admin.accounts.put', { account_id, username });
    const { answer, arrive } = await overtaken(() => put('first'));
    ok(answer);
    ok(await put('second'));
    await arrive();
    expect(ok(await asOperator('admin.accounts.get', { account_id })).username).toBe('second');
  });

  // An identification keeps its page, and then changes the link request.
  const CHANGES_LINK = 2;

  test('an identification leaves the account that was identified later', async () => {
    const { store } = service.server.service;
    const link = aLink();
    await store.createLink({ ...link, initiator: anInitiator() });
    const [first, second] = [anAccount(), anAccount()];
    for (const account of [first, second]) await store.putAccount(account);
    const identify = ({ id: account_id }: typeof first) =>
      store.identifyLink(identificationOf(link, aConsentPage(link, { account_id })));
    const { answer, arrive } = await overtaken(() => identify(first), CHANGES_LINK);
    expect(answer).toMatchObject({ account_id: first.id });
    const later = await identify(second);
    await arrive();
    expect(later).toMatchObject({ account_id: second.id });
    expect(await store.findLink(link.id)).toEqual(later);
  });

  test('an identification finds no link request once the account was erased', async () => {
    const { store } = service.server.service;
    const link = aLink();
    await store.createLink({ ...link, initiator: anInitiator() });
    const account = anAccount();
    await store.putAccount(account);
    const page = aConsentPage(link, { account_id: account.id });
    let sent = 0;
    const holding = service.proxy.holdNext(
      (command) => isDurableWrite(command) && ++sent === CHANGES_LINK,
    );
    const answering = store.identifyLink(identificationOf(link, page));
    const held = await holding;
    const { store: other } = service.witness.service;
    const erasure = { account_id: account.id, now: Date.now(), initiator: anInitiator() };
    await service.witness.service.runner.run(await other.markErasure(erasure));
    held.cut();
    expect(await answering).toBeNull();
    await held.execute();
    expect(await other.findLink(link.id)).toBeNull();
    expect(await other.findPage(page.id)).toBeNull();
  });

  test('a decision leaves a link request open that it was said not to decide', async () => {
    const { store } = service.server.service;
    const { store: other } = service.witness.service;
    const { link, account } = await identified(store);
    const rival = anAccount();
    await other.putAccount(rival);
    const identify = ({ id: account_id }: typeof account) =>
      other.identifyLink(identificationOf(link, aConsentPage(link, { account_id })));
    const holding = service.proxy.holdNext(isDurableWrite);
    const answering = store.decideLink(approvalOf(link, account.id));
    const held = await holding;
    await identify(rival);
    held.cut();
    expect(await answering).toBeNull();
    await identify(account);
    await held.execute();
    expect((await other.findLink(link.id))?.decision).toBeNull();
  });

  test('a decision and a switch leave what was decided', async () => {
    const { store } = service.server.service;
    const { link, page, account } = await identified(store);
    const change = { link_id: link.id, page_id: page.id, link_hash: aHash(), now: Date.now() };
    const switching = service.proxy.holdNext(isDurableWrite);
    const answering = store.switchLink({ ...change, initiator: anInitiator() });
    const held = await switching;
    const { store: other } = service.witness.service;
    const decided = await other.decideLink(approvalOf(link, account.id, page));
    held.cut();
    expect(await answering).toBeNull();
    await held.execute();
    expect(decided).not.toBeNull();
    expect(await other.findLink(link.id)).toEqual(decided);
  });

  // The page stays the latest, so both switches are of the same one.
  test('a switch leaves the link of a later one', async () => {
    const { store } = service.server.service;
    const { link, page } = await identified(store);
    const switchTo = (link_hash: Uint8Array) =>
      store.switchLink({
        link_id: link.id,
        page_id: page.id,
        link_hash,
        now: Date.now(),
        initiator: anInitiator(),
      });
    const [first, second] = [aHash(), aHash()];
    const { answer, arrive } = await overtaken(() => switchTo(first));
    expect(answer?.link_hash).toEqual(first);
    const later = await switchTo(second);
    await arrive();
    expect(later?.link_hash).toEqual(second);
    expect(await store.findLink(link.id)).toEqual(later);
  });

  test('the description of a scope does not come back once it was deleted', async () => {
    const { store } = service.server.service;
    const scope = aScope();
    const { answer, arrive } = await overtaken(() => store.putScope(scope, { most: 200 }));
    expect(answer).toBe('put');
    await store.deleteScope(scope.scope);
    await arrive();
    expect(await store.listScopes()).not.toContainEqual(scope);
  });

  // Late, it would bring back what was unpinned since, or end what was pinned since.
  test('a pin is sent once, and its end too', async () => {
    const { store } = service.server.service;
    const document_uri = 'https://client.example/client.json';
    const pin = () => store.pinDocument({ document_uri, document: '{}', kept_at: 1 }, { most: 9 });
    const unpin = () => store.unpinDocument(document_uri);
    for (const call of [pin, unpin]) {
      const { answer } = await overtaken(() => call().catch(({ code }) => code));
      expect(answer).toBe('outcome_unknown');
      await call();
    }
  });

  test('an application keeps what it was changed to last', async () => {
    const { store } = service.server.service;
    const application = anApplication();
    await store.createApplication(application);
    const rename = (name: string) => store.updateApplication(application.id, { name });
    const { answer, arrive } = await overtaken(() => rename('first'));
    expect(answer?.name).toBe('first');
    await rename('second');
    await arrive();
    expect((await store.findApplication(application.id))?.name).toBe('second');
  });
});
