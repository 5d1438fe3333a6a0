import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DomainError } from '@latchkey/domain/domain-error';
import { eventsOf } from '@latchkey/rules/events/events';
import type { Service } from '@latchkey/rules/service';
import type { FullGrant } from '@latchkey/schema';
import { copyDatabase } from '@latchkey/store/copy-database';
import type { Revocation } from '@latchkey/store/store';
import pino from 'pino';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { closeService, eventsFrom, openService } from '../../src/open-service.ts';
import { driverOf } from '../../src/open-store.ts';
import { operations } from '../../src/operations/operation.ts';
import { readAuditLines } from '../../src/restore/read-audit-lines.ts';
import { afterRestore, type RevokedAgain, revokeAgain } from '../../src/restore/revoke-again.ts';
import { aDocument, DOCUMENTS } from '../cases/world.ts';
import { startReceiver } from '../events/receiver.ts';
import { invoke, type Json, succeed } from '../http/call.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { ADA, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, startTestServer, type TestServer } from '../http/running-server.ts';

const DAY = 86_400_000;
const events = eventsFrom({
  ...{ eventsKey: EVENTS.EVENTS_KEY, eventsKeyPrevious: null, outboundAllow: null },
});

describeOnEachStore('what ended after a backup', (fresh) => {
  /**
   * A copy of the database stands for the backup, on both stores.
   *
   * @returns what the backup is once the log of `change` has been applied to it
   */
  async function restoredAfter(
    server: TestServer,
    url: string,
    change: () => Promise<void>,
  ): Promise<{ service: Service; done: RevokedAgain; url: string }> {
    const backup = await copyOf(url);
    server.lines.length = 0;
    await change();
    const { service, again } = await restored(server, backup);
    return { service, done: await again(), url: backup };
  }

  async function copyOf(url: string): Promise<string> {
    const backup = await fresh();
    onTestFinished(() => backup.remove());
    const [source, target] = [
      await driverOf(url).openSource(url),
      await driverOf(backup.url).openTarget(backup.url),
    ];
    await copyDatabase(source, target, { last: false });
    await Promise.all([source.close(), target.close()]);
    return backup.url;
  }

  /** @returns the service on the backup, and what applies the log to it */
  async function restored(server: TestServer, url: string) {
    const log = pino({ level: 'silent' });
    const service = await openService(url, log, { claim: { evenIfCopied: true }, events });
    onTestFinished(() => closeService(service));
    const again = () => {
      const lines = readAuditLines(serviceLog(server), { lines: 0 });
      return revokeAgain(service, lines, 0);
    };
    return { service, again };
  }

  /** The lines of a test have the time as a number. */
  async function* serviceLog({ lines }: Pick<TestServer, 'lines'>): AsyncGenerator<Buffer> {
    for (const line of lines) {
      const entry = JSON.parse(line);
      yield Buffer.from(
        `${JSON.stringify({ ...entry, time: new Date(entry.time).toISOString() })}\n`,
      );
    }
  }

  async function started() {
    const database = await fresh();
    const server = await startTestServer(database.url, {
      SIGN_IN_URL: 'https://host.example/sign-in',
      PUBLIC_URL: 'https://link.example',
      ...{ ...EVENTS, ...DOCUMENTS },
    });
    onTestFinished(async () => {
      await server.close();
      await database.remove();
    });
    return { server, url: database.url };
  }

  const update = (server: TestServer, { application_id }: LinkedApplication, changes: object) =>
    succeed(server, 'admin.applications.update', { application_id, ...changes } as never, operator);
  const historyOf = ({ store }: Service, { grant_id }: FullGrant) =>
    store.findGrantHistory(grant_id);

  test('has ended again, with the reason of a grant that nobody asked to end', async () => {
    const { server, url } = await started();
    const [idle, replaced] = [await linkedApplication(server), await linkedApplication(server)];
    const [unused, old] = [await idle.link(), await replaced.link()];
    await server.service.idleGrants.end();
    const { service } = await restoredAfter(server, url, async () => {
      await update(server, replaced, { grants_per_account: 1 });
      server.advance(1);
      await replaced.link();
      await update(server, idle, { idle_days: 1 });
      server.advance(2 * DAY + 1);
      await server.service.idleGrants.end();
    });
    for (const [grant, reason, by] of [
      [unused, 'idle', null],
      [old, 'replaced', expect.objectContaining({ by: 'application' })],
    ] as const) {
      const now = await historyOf(server.service, grant);
      expect(now).toMatchObject({ revoked_at: expect.any(Number), revoked_reason: reason });
      expect(await historyOf(service, grant)).toMatchObject({
        revoked_at: expect.any(Number),
        revoked_reason: reason,
        revoked_by: by,
      });
    }
  });

  test('is done again of scopes and pages, and told of an application', async () => {
    const { server, url } = await started();
    const linked = await linkedApplication(server);
    const { account_id, application_id } = linked;
    const call = (
      name: 'admin.scopes.put' | 'admin.scopes.delete' | 'admin.pages.end',
      input: object,
    ) => succeed(server, name, input as never, operator);
    for (const scope of ['gone', 'back', 'kept'])
      await call('admin.scopes.put', { scope, title: scope });
    const uris = ['https://app.example/one', 'https://app.example/two'];
    await update(server, linked, { redirect_uris: uris });
    const other = await linkedApplication(server);
    await update(server, other, { redirect_uris: uris, scopes: ['gone'] });
    const { service, done } = await restoredAfter(server, url, async () => {
      await call('admin.scopes.delete', { scope: 'gone' });
      await call('admin.scopes.delete', { scope: 'back' });
      await call('admin.scopes.put', { scope: 'back', title: 'back' });
      await call('admin.pages.end', { account_id });
      await update(server, linked, { redirect_uris: [] });
      await update(server, linked, { redirect_uris: ['https://app.example/new', uris[1]] });
      await update(server, linked, { scopes: ['kept', 'new'], name: 'Ada' });
      // Taken away and given back.
      await update(server, other, { redirect_uris: [], scopes: [] });
      await update(server, other, { redirect_uris: uris, scopes: null });
    });
    expect(await service.store.listScopeNames()).toEqual(['back', 'kept']);
    expect(done).toMatchObject({
      scopes_deleted: 1,
      accounts_signed_out: 1,
      lists_shortened: 2,
      for_operator: [linked, other].map((one) =>
        expect.stringContaining(`The application ${one.application_id} was updated at 20`),
      ),
    });
    const { store } = service;
    expect(await store.findApplication(application_id)).toMatchObject({
      redirect_uris: [uris[1]],
      scopes: ['kept'],
    });
    expect(await store.findApplication(other.application_id)).toMatchObject({
      redirect_uris: uris,
      scopes: ['gone'],
    });
  });

  test('is done again of all grants of an account and of an application', async () => {
    const { server, url } = await started();
    const [one, two] = [await linkedApplication(server), await linkedApplication(server)];
    const [ofAccount, ofApplication] = [await one.link(), await two.link()];
    const codes = [await one.issue(), await two.issue()];
    const { service, done } = await restoredAfter(server, url, async () => {
      for (const parties of [
        { account_id: one.account_id },
        { application_id: two.application_id },
      ]) {
        await succeed(server, 'admin.grants.revokeAll', parties, operator);
      }
    });
    expect(done).toMatchObject({ calls: 2, grants_revoked: 2 });
    // The time of the audit line, not that of the restore.
    const times = server.lines
      .map((line) => JSON.parse(line))
      .flatMap(({ action, time }) => (action === 'admin.grants.revokeAll' ? [time] : []));
    for (const [index, grant] of [ofAccount, ofApplication].entries()) {
      expect((await historyOf(service, grant))?.revoked_at).toBe(times[index]);
    }
    for (const { grant_id } of codes) expect(await service.store.findCode(grant_id)).toBeNull();
  });

  describe.each(['account', 'application', 'connection'] as const)('by a mark, of an %s,', (of) => {
    const marked = async () => {
      const { server, url } = await started();
      const linked = await linkedApplication(server);
      const { account_id, application_id } = linked;
      const mark = () =>
        of === 'connection'
          ? succeed(server, 'admin.connections.revoke', { account_id, application_id }, operator)
          : succeed(
              server,
              'admin.grants.revokeAll',
              of === 'account' ? { account_id } : { application_id },
              operator,
            );
      return { server, url, linked, mark };
    };
    const isAlive = async (service: Service, grant: FullGrant) =>
      (await historyOf(service, grant))?.revoked_at === null;

    test('ends what a process with a fast clock has converted before', async () => {
      const { server, url, linked, mark } = await marked();
      server.advance(5_000);
      const [fast, code] = [await linked.link(), await linked.issue()];
      server.advance(-5_000);
      const { service, done } = await restoredAfter(server, url, async () => void (await mark()));
      expect(done).toMatchObject({ grants_revoked: 1 });
      expect(await isAlive(service, fast)).toBe(false);
      expect(await service.store.findCode(code.grant_id)).toBeNull();
      expect(await service.store.listWork(9)).toEqual([]);
    });

    test('spares what a process with a slow clock has converted later', async () => {
      const { server, url, linked, mark } = await marked();
      const ended = await linked.link();
      server.advance(5_000);
      await mark();
      server.advance(-5_000);
      const later = await linked.link();
      server.advance(120_000);
      await linked.link();
      const { service, again } = await restored(server, await copyOf(url));
      await again();
      expect(await isAlive(service, ended)).toBe(false);
      expect(await isAlive(service, later)).toBe(true);
    });

    test('spares what was converted on a backup that never had the number', async () => {
      const { server, url, linked, mark } = await marked();
      const [before, code] = [await linked.link(), await linked.issue()];
      const backup = await copyOf(url);
      // Changes that the backup lacks, so that its own numbers are lesser ones.
      await mark();
      await mark();
      const { service, again } = await restored(server, backup);
      const running = await startTestServer(backup, {}, { evenIfCopied: true });
      onTestFinished(() => running.close());
      running.advance(120_000);
      const { account_id, application_id } = linked;
      const about = { account_id, application_id, scope: 'profile.read' };
      const issued = await succeed(running, 'admin.codes.issue', about, operator);
      const later = await succeed(running, 'grants.convert', { code: issued.code }, linked.bearer);
      for (let time = 0; time < 2; time++) {
        await again();
        expect(await isAlive(service, before)).toBe(false);
        expect(await isAlive(service, later)).toBe(true);
      }
      if (of !== 'application') expect(await service.store.findCode(code.grant_id)).toBeNull();
    });

    test('goes on in a copy that was made between the mark and its end', async () => {
      const { server, url, linked } = await marked();
      const { account_id, application_id } = linked;
      const [ended, code] = [await linked.link(), await linked.issue()];
      const parties = {
        account: { account_id },
        application: { application_id },
        connection: { account_id, application_id },
      }[of];
      const initiator = { request_id: 'a request', by: 'operator', secret_id: null } as const;
      await server.service.store.markRevocation({ ...parties, now: 7, initiator });
      const later = await linked.link();
      const copy = await startTestServer(await copyOf(url), {}, { evenIfCopied: true });
      onTestFinished(() => copy.close());
      const { store } = copy.service;
      await expect.poll(() => store.listWork(9)).toEqual([]);
      expect(await historyOf(copy.service, ended)).toMatchObject({ revoked_at: 7 });
      expect(await store.findCode(code.grant_id)).toBeNull();
      expect(await isAlive(copy.service, later)).toBe(true);
    });
  });

  describe('an erasure is done again', () => {
    const erase = (server: TestServer, account_id: string) =>
      succeed(server, 'admin.accounts.erase', { account_id }, operator);
    const isThere = async ({ store }: Service, id: string) =>
      (await store.findAccount(id)) !== null;

    test('also where an action before the backup is done again too', async () => {
      const { server, url } = await started();
      const { account_id, application_id, link } = await linkedApplication(server);
      await link();
      await succeed(server, 'admin.connections.revoke', { account_id, application_id }, operator);
      const backup = await copyOf(url);
      await erase(server, account_id);
      const { service, again } = await restored(server, backup);
      await again();
      expect(await isThere(service, account_id)).toBe(false);
    });

    test('also where a user has signed out on the backup', async () => {
      const { server, url } = await started();
      const { account_id, link } = await linkedApplication(server);
      await link();
      const backup = await copyOf(url);
      await erase(server, account_id);
      const { service, again } = await restored(server, backup);
      await service.store.endPages(account_id);
      await again();
      expect(await isThere(service, account_id)).toBe(false);
    });

    test('unless the account was put again before the backup', async () => {
      const { server, url } = await started();
      const { account_id, link } = await linkedApplication(server);
      await link();
      await erase(server, account_id);
      await succeed(server, 'admin.accounts.put', { account_id, ...ADA }, operator);
      const grant = await link();
      const { service, again } = await restored(server, await copyOf(url));
      for (let time = 0; time < 2; time++) {
        await again();
        expect(await isThere(service, account_id)).toBe(true);
        expect(await historyOf(service, grant)).toMatchObject({ revoked_at: null });
      }
    });

    test('once: an account that is put after that stays', async () => {
      const { server, url } = await started();
      const { account_id } = await linkedApplication(server);
      const backup = await copyOf(url);
      for (let time = 0; time < 3; time++) await server.service.store.endPages(account_id);
      await erase(server, account_id);
      const { service, again } = await restored(server, backup);
      expect(await again()).toMatchObject({ accounts_erased: 1 });
      await service.store.putAccount({ id: account_id, ...ADA });
      expect(await again()).toMatchObject({ accounts_erased: 0 });
      expect(await isThere(service, account_id)).toBe(true);
    });
  });

  test('is done again of resources', async () => {
    const { server, url } = await started();
    const create = (resource: string) =>
      succeed(
        server,
        'admin.resources.create',
        { resource, name: 'Notes', scopes: ['a', 'b'], default_scopes: ['b'] },
        operator,
      );
    const [gone, narrowed, back] = [
      await create('https://gone.example'),
      await create('https://narrowed.example'),
      await create('https://back.example'),
    ];
    const change = ({ id }: { id: string }, changes: object) =>
      succeed(server, 'admin.resources.update', { resource_id: id, ...changes }, operator);
    const { service, done } = await restoredAfter(server, url, async () => {
      await succeed(server, 'admin.resources.delete', { resource_id: gone.id }, operator);
      await change(narrowed, { scopes: ['a', 'new'], default_scopes: null });
      await change(back, { scopes: ['a'], default_scopes: null });
      await change(back, { scopes: ['a', 'b'], name: 'All' });
    });
    expect(await service.store.listResources()).toMatchObject([
      { id: back.id, scopes: ['a', 'b'], default_scopes: ['b'], name: 'Notes' },
      { id: narrowed.id, scopes: ['a'], default_scopes: null },
    ]);
    expect(done).toMatchObject({
      ...{ resources_deleted: 1, lists_shortened: 1 },
      for_operator: [narrowed, back].map(({ id }) =>
        expect.stringContaining(`The resource ${id} was updated at 20`),
      ),
    });
  });

  test('is done again of pinned documents, but for those that were pinned later', async () => {
    const { server, url } = await started();
    const addresses = ['gone', 'back', 'new'].map((name) => `https://${name}.example/client`);
    const [gone = '', back = '', later = ''] = addresses;
    const pin = (address: string) =>
      succeed(server, 'admin.documents.pin', aDocument(address), operator);
    const unpin = (document_uri: string) =>
      succeed(server, 'admin.documents.unpin', { document_uri }, operator);
    for (const address of [gone, back]) await pin(address);
    const { service, done } = await restoredAfter(server, url, async () => {
      for (const address of [gone, back]) await unpin(address);
      for (const address of [back, later]) await pin(address);
    });
    expect(await service.store.listPinned()).toEqual([back]);
    expect(done).toMatchObject({
      documents_unpinned: 1,
      for_operator: [back, later].map((address) =>
        expect.stringContaining(`The document of ${address} was pinned at 20`),
      ),
    });
  });

  test('is done again of endpoints, which have their last secret again', async () => {
    const { server, url } = await started();
    const create = (name: string) =>
      succeed(
        server,
        'admin.endpoints.create',
        { url: `https://${name}.example/events` },
        operator,
      );
    const [gone, off, on, rotated] = [
      ...[await create('gone'), await create('off')],
      ...[await create('on'), await create('rotated')],
    ];
    const refusing = await startReceiver();
    onTestFinished(refusing.close);
    refusing.answer = (response) => void response.writeHead(410).end();
    const { id: endpoint_id } = await succeed(
      server,
      'admin.endpoints.create',
      { url: refusing.url },
      operator,
    );
    const change = ({ id }: Json, changes: object) =>
      succeed(server, 'admin.endpoints.update', { endpoint_id: id, ...changes }, operator);
    let secret = '';
    const { service, done } = await restoredAfter(server, url, async () => {
      await succeed(server, 'admin.endpoints.delete', { endpoint_id: gone.id }, operator);
      await change(off, { disabled: true });
      await change(on, { disabled: true });
      await change(on, { disabled: false, types: ['grant.revoked'] });
      await succeed(server, 'admin.endpoints.ping', { endpoint_id }, operator);
      for (let time = 0; time < 3; time++) {
        const input = { endpoint_id: rotated.id };
        ({ secret } = await succeed(server, 'admin.endpoints.rotate', input, operator));
      }
    });
    const { store } = service;
    expect(await store.findEndpoint(gone.id)).toBeNull();
    expect(await store.findEndpoint(off.id)).toMatchObject({ disabled_reason: 'operator' });
    expect(await store.findEndpoint(on.id)).toMatchObject({ disabled_reason: null, types: null });
    expect(await store.findEndpoint(endpoint_id)).toMatchObject({ disabled_reason: 'gone' });
    const restored = await store.findEndpoint(rotated.id);
    expect(restored).toMatchObject({ secret_version: 4, overlap_until: null });
    if (restored) expect(eventsOf(service).secretOf(restored)).toBe(secret);
    expect(done).toMatchObject({
      ...{ endpoints_deleted: 1, endpoints_disabled: 2, endpoints_rotated: 1 },
      for_operator: [off, on].map(({ id }) =>
        expect.stringContaining(`The endpoint ${id} was updated at 20`),
      ),
    });
  });

  test('is done again of keys, also of one that the command line deleted', async () => {
    const { server, url } = await started();
    const create = (name: string) =>
      succeed(server, 'admin.keys.create', { name, role: 'read' }, operator);
    const [kept, gone, removed] = [
      await create('kept'),
      await create('gone'),
      await create('removed'),
    ];
    const { service, done } = await restoredAfter(server, url, async () => {
      await succeed(server, 'admin.keys.delete', { key_id: gone.id }, operator);
      const later = await create('later');
      await succeed(server, 'admin.keys.delete', { key_id: later.id }, operator);
      const { code } = await runInProcess(['key', 'delete', removed.id], { DATABASE_URL: url });
      expect(code).toBe(0);
      server.service.commandChanges.watch();
      await vi.waitFor(() => expect(server.lines.join()).toContain('command_line'));
    });
    expect(await service.store.listKeys()).toMatchObject([{ id: kept.id, name: 'kept' }]);
    expect(done).toMatchObject({ keys_deleted: 2 });
  });

  test('is done again where its outcome was unknown, and its repetition ended nothing', async () => {
    const { server, url } = await started();
    const linked = await linkedApplication(server);
    const [ended, ofAnother] = [await linked.link(), await linked.link()];
    const rival = await linkedApplication(server);
    const { id: key_id } = await succeed(
      server,
      'admin.keys.create',
      { name: 'leaked', role: 'read' },
      operator,
    );
    const { store } = server.service;
    const { revokeGrant, deleteKey } = store;
    const unknown = (members = {}) => {
      throw new DomainError('outcome_unknown', members);
    };
    const { service, done } = await restoredAfter(server, url, async () => {
      const calls = [
        ['grants.revokeToken', { token: ended.grant_secret }, linked.bearer],
        ['admin.keys.delete', { key_id }, operator],
      ] as const;
      Object.assign(store, {
        revokeGrant: (revocation: Revocation) =>
          revokeGrant(revocation).then(() => unknown({ grant_id: revocation.grant_id })),
        deleteKey: (id: string) => deleteKey(id).then(() => unknown()),
      });
      for (const [name, input, authorization] of calls) {
        const { body } = await invoke(server, 'REST', name, input, authorization);
        expect(body.error_code).toBe('outcome_unknown');
      }
      const { grant_id } = ofAnother;
      const theirs = await invoke(server, 'REST', 'grants.revoke', { grant_id }, rival.bearer);
      expect(theirs.body.error_code).toBe('outcome_unknown');
      Object.assign(store, { revokeGrant, deleteKey });
      const repeated: number[] = [];
      for (const [name, input, authorization] of calls) {
        repeated.push((await invoke(server, 'REST', name, input, authorization)).status);
      }
      expect(repeated).toEqual([200, 404]);
    });
    expect(done).toMatchObject({ grants_revoked: 1, keys_deleted: 1 });
    expect((await historyOf(service, ended))?.revoked_at).not.toBeNull();
    expect((await historyOf(service, ofAnother))?.revoked_at).toBeNull();
  });

  test('needs its whole log, or that the gap is accepted', async () => {
    const { server, url } = await started();
    const linked = await linkedApplication(server);
    const { grant_id } = await linked.link();
    const numbers = () => server.lines.filter((line) => line.includes('"log number"'));
    await expect.poll(numbers).toHaveLength(1);
    const beginning = [...server.lines];
    const since = new Date().toISOString();
    const restored = await restoredAfter(server, url, async () => {
      await succeed(server, 'admin.grants.revoke', { grant_id }, operator);
    });
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-logs-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'latchkey.log');
    const again = async (lines: string[], ...options: string[]) => {
      await writeFile(file, serviceLog({ lines }));
      const words = ['revoke-again', '--since', since, file, '--json', ...options];
      return runInProcess(words, { DATABASE_URL: restored.url });
    };
    const gap = /^No log has a number of the service\. .* --accept-gap\.\n$/;
    const refused = await again(server.lines);
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(gap) });
    expect(await again(server.lines, '--accept-gap')).toMatchObject({ code: 0, stderr: '' });
    const whole = await again([...beginning, ...server.lines]);
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(whole.stdout)).toMatchObject({
      gaps: [],
      unproven: [
        expect.stringContaining('was not stopped in order'),
        expect.stringContaining('After the number 1 of the log'),
      ],
    });
  });
});

test('the operations guide says of each action that ended something what a restore does', async () => {
  const guide = await readFile(
    new URL('../../../../docs/operations/upgrade-and-restore.md', import.meta.url),
    'utf8',
  );
  const [, chapter = ''] = /^### What is revoked again\n([\s\S]*?)^##/m.exec(guide) ?? [];
  const rows = [...chapter.matchAll(/^\| \*\*(\w+)\*\*[^|]*\|([^|]*)/gm)];
  const told = new Set(
    rows.flatMap(([, does, actions = '']) =>
      [...actions.matchAll(/`([^`]+)`/g)].map(([, action]) => `${action}: ${does}`),
    ),
  );
  const words = { expires: ['expires'], update: ['again', 'you'], rotate: ['again'], pin: ['you'] };
  const done = Object.entries(afterRestore).flatMap(([action, does]) => {
    if (does === 'nothing') return [];
    return (typeof does === 'object' ? ['again'] : words[does]).map((one) => `${action}: ${one}`);
  });
  expect([...told].sort()).toEqual(done.sort());
});

test('an operation that changes nothing has no row, and every other one has', () => {
  for (const { name, changes } of operations.values()) {
    expect(Object.hasOwn(afterRestore, name), name).toBe(changes);
  }
});
