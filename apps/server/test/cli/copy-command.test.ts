import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProgress } from '../../src/cli/copy-command.ts';
import { openStore } from '../../src/store/open-store.ts';
import { ERASED, type GrantRecord } from '../../src/store/records.ts';
import { migrations } from '../../src/store/sqlite/migrations.ts';
import type { Store } from '../../src/store/store.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnMongodb } from '../http/databases.ts';
import { mongoHarness } from '../store/mongodb/mongo-harness.ts';
import {
  anAccount,
  anApplication,
  anInitiator,
  aScope,
  aSecret,
  type Granted,
  granted,
  identified,
  issued,
  recoveryOf,
  redemptionOf,
} from '../store/suite/records.ts';

let folder: string;
const at = (name: string) => `file:${join(folder, name)}`;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
});
afterEach(() => rm(folder, { recursive: true }));

const copy = (from: string, to: string) => runInProcess(['copy', '--from', from, '--to', to], {});

async function copied(from: string, to: string): Promise<string> {
  const { code, stdout, stderr } = await copy(from, to);
  expect({ code, stdout }, stderr).toMatchObject({ code: 0 });
  return stdout;
}

async function on<T>(url: string, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { clock: Date.now });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

type FiveGrants = [Granted, Granted, Granted, Granted, Granted];

/** A database with a grant in each state. */
async function fill(url: string) {
  return on(url, async (store) => {
    const application = anApplication({ secrets: [aSecret(), aSecret()] });
    await store.createApplication(application);
    const scope = aScope();
    await store.putScope(scope, { most: 200 });
    const account = anAccount();
    await store.putAccount(account);
    const own = { application_id: application.id, account };
    const grants = await Promise.all(Array.from({ length: 5 }, () => granted(store, own)));
    const [active, used, revoked, recovered, both] = grants as FiveGrants;
    const now = Date.now();
    const use = async ({ grant, secret_hash }: Granted) => {
      const { grant_id } = grant;
      expect(
        await store.noteFirstUse({ grant_id, secret_hash, now, initiator: anInitiator() }),
      ).toBe(true);
    };
    await use(used);
    await use(both);
    const revoke = ({ grant_id }: GrantRecord) =>
      store.revokeGrant({ grant_id, application_id: null, now, initiator: anInitiator() });
    await revoke(revoked.grant);
    await revoke(both.grant);
    await store.recoverGrant(recoveryOf(recovered.grant, { initiator: anInitiator() }));
    const pending = await issued(store, own);
    const { link, page } = await identified(store, {}, account);
    return {
      scope,
      link,
      page,
      application,
      account,
      grants,
      active,
      used,
      revoked,
      recovered,
      pending,
    };
  });
}
type Filled = Awaited<ReturnType<typeof fill>>;

/** All that the port shows of it. */
const contents = (url: string, { application, account, grants }: Filled) =>
  on(url, async (store) => ({
    scopes: await store.listScopes(),
    applications: await store.listApplications({ limit: 99, before: null }),
    account: await store.findAccount(account.id),
    listed: await store.listGrants({ application_id: application.id }, { limit: 99, before: null }),
    grants: await Promise.all(
      grants.map(async ({ grant: { grant_id } }) => [
        await store.authenticateGrant(grant_id, { currentAccount: true }),
        await store.findGrantHistory(grant_id),
        await store.findCode(grant_id),
      ]),
    ),
  }));

/** Takes the details off the grants that are revoked by now. */
async function reduce(url: string): Promise<void> {
  const clock = () => Date.now() + 86_400_000;
  const store = await openStore(url, { clock, revokedGrantDays: 1 });
  await (store as Store & { sweep(): Promise<void> }).sweep();
  await store.close();
}

/** What every pair of databases has to do. */
function describeCopy(fresh: () => Promise<[from: string, to: string]>): void {
  test('brings scopes, applications, accounts and grants, and nothing that is under way', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    await reduce(from);
    const before = await contents(from, filled);
    expect(await copied(from, to)).toContain('1 scopes, 1 applications, 1 accounts and 5 grants');
    expect(await contents(to, filled)).toEqual(before);
    expect(await contents(from, filled)).toEqual(before);
    await on(to, async (store) => {
      expect(await store.findCode(filled.pending.grant_id)).toBeNull();
      expect(await store.findLink(filled.link.id)).toBeNull();
      expect(await store.findPage(filled.page.id)).toBeNull();
    });
    await copied(from, to);
    expect(await contents(to, filled)).toEqual(before);
  });

  test('brings what is new when it is repeated', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    await copied(from, to);
    const { active, used, recovered, pending, application } = filled;
    const [, removed] = application.secrets;
    const now = Date.now();
    const initiator = anInitiator();
    await on(from, async (store) => {
      await store.revokeGrant({ ...active.grant, application_id: null, now, initiator });
      await store.revokeGrant({ ...used.grant, application_id: null, now, initiator });
      await store.recoverGrant(recoveryOf(recovered.grant));
      await store.redeemCode(redemptionOf(pending, { now, initiator }));
      await store.removeSecret(application.id, removed?.id ?? '');
      await store.addSecret(application.id, aSecret({ created_at: now + 1 }), { most: 5, now });
      await store.createApplication(anApplication({ created_at: now + 1 }));
      await store.putScope(aScope(), { most: 200 });
      const account = anAccount();
      await store.putAccount(account);
      await granted(store, { application_id: application.id, account });
    });
    await copied(from, to);
    expect(await contents(to, filled)).toEqual(await contents(from, filled));
    expect(await copied(from, to)).toContain('2 scopes, 2 applications, 2 accounts and 7 grants');
  });

  test('keeps what was added at the target, however often it is repeated', async () => {
    const [from, to] = await fresh();
    const { application } = await fill(from);
    await copied(from, to);
    const added = aSecret();
    const own = anApplication();
    await on(to, async (store) => {
      await store.addSecret(application.id, added, { most: 5, now: Date.now() });
      await store.createApplication(own);
    });
    for (let round = 0; round < 3; round += 1) await copied(from, to);
    await on(to, async (store) => {
      const found = await store.findApplication(application.id);
      expect(found?.secrets).toEqual([...application.secrets, added]);
      expect(await store.findApplication(own.id)).toEqual(own);
    });
  });

  test('brings what got its time before an earlier copy, and was committed behind it', async () => {
    const [from, to] = await fresh();
    const { application } = await fill(from);
    await copied(from, to);
    const created_at = Date.now() - 60_000;
    const late = anApplication({ created_at });
    const secret = aSecret({ created_at });
    const account = anAccount();
    const slow = await openStore(from, { clock: () => created_at });
    await slow.createApplication(late);
    await slow.addSecret(application.id, secret, { most: 5, now: created_at });
    await slow.putAccount(account);
    await slow.close();
    await copied(from, to);
    await on(to, async (store) => {
      expect(await store.findApplication(late.id)).toEqual(late);
      expect((await store.findApplication(application.id))?.secrets).toContainEqual(secret);
      expect(await store.findAccount(account.id)).toEqual(account);
    });
  });

  test('keeps the order of the accounts, and leaves out what was erased and deleted', async () => {
    const [from, to] = await fresh();
    const { account, application, grants } = await fill(from);
    const [later, erased] = [anAccount(), anAccount()];
    const deleted = anApplication({ disabled: true });
    const page = { limit: 99, before: null };
    const listed = (url: string) => on(url, (store) => store.listAccounts({}, page));
    await on(from, async (store) => {
      await store.putAccount(later);
      await store.putAccount(erased);
      await store.createApplication(deleted);
      await granted(store, { application_id: application.id, account: erased });
      await granted(store, { application_id: deleted.id, account });
      await store.eraseAccount({
        account_id: erased.id,
        now: Date.now(),
        initiator: anInitiator(),
      });
      // Its grants are not ended yet.
      const deletion = {
        application_id: deleted.id,
        deleted_at: Date.now(),
        deleted_by: anInitiator(),
      };
      await store.deleteApplication(deletion);
    });
    await copied(from, to);
    expect((await listed(to)).map((each) => each.account.id)).toEqual([later.id, account.id]);
    expect(await listed(to)).toEqual(await listed(from));
    await on(to, async (store) => {
      expect(await store.findApplication(deleted.id)).toBeNull();
      expect(await store.listGrants({ application_id: deleted.id }, page)).toEqual([]);
      const [ended] = await store.listGrants({ account_id: erased.id }, page);
      expect(ended).toMatchObject({ account: ERASED, revoked_at: expect.any(Number) });
      // Now the target is in use.
      await store.eraseAccount({ account_id: later.id, now: Date.now(), initiator: anInitiator() });
      await store.eraseAccount({
        account_id: account.id,
        now: Date.now(),
        initiator: anInitiator(),
      });
      await store.setApplicationDisabled(application.id, true);
      await store.deleteApplication({
        ...{ application_id: application.id, deleted_at: Date.now() },
        deleted_by: anInitiator(),
      });
    });
    const ofLater = await on(from, async (store) => {
      const other = anApplication({ created_at: Date.now() + 1 });
      await store.createApplication(other);
      const own = { application_id: other.id, account: later };
      const [active, revoked] = [await granted(store, own), await granted(store, own)];
      await store.revokeGrant({ ...revoked.grant, now: Date.now(), initiator: anInitiator() });
      return { active, revoked };
    });
    await copied(from, to);
    expect(await listed(to)).toEqual([]);
    await on(to, async (store) => {
      expect(await store.findApplication(application.id)).toBeNull();
      expect(await store.findGrantHistory(ofLater.active.grant.grant_id)).toBeNull();
      const [found, ...others] = await store.listGrants({ account_id: later.id }, page);
      expect(others).toEqual([]);
      expect(found).toMatchObject({ grant_id: ofLater.revoked.grant.grant_id, account: ERASED });
      const all = await store.listGrants({ account_id: account.id }, page);
      expect(all).toHaveLength(grants.length);
      for (const grant of all) expect(grant).toMatchObject({ account: ERASED });
    });
  });

  test('revives nothing at a target that is in use', async () => {
    const [from, to] = await fresh();
    const filled = await fill(from);
    const { active, used, recovered, application, account, scope } = filled;
    const [other, described] = [anApplication(), aScope()];
    const code = await on(from, async (store) => {
      await store.createApplication(other);
      await store.putScope(described, { most: 200 });
      return issued(store, { application_id: application.id, account });
    });
    await copied(from, to);
    const now = Date.now();
    const [removed] = application.secrets;
    const added = aSecret({ created_at: now + 1 });
    await on(to, async (store) => {
      await store.revokeGrant({
        ...active.grant,
        application_id: null,
        now,
        initiator: anInitiator(),
      });
      await store.revokeGrant({
        ...used.grant,
        application_id: null,
        now,
        initiator: anInitiator(),
      });
      await store.recoverGrant(recoveryOf(recovered.grant));
      await store.removeSecret(application.id, removed?.id ?? '');
      await store.addSecret(application.id, added, { most: 5, now });
      await store.setApplicationDisabled(other.id, true);
      await store.putAccount({ ...account, username: 'renamed' });
      await store.putScope({ ...described, title: 'renamed' }, { most: 200 });
      await store.deleteScope(scope.scope);
    });
    // Used and revoked at the source, too, but later: the target keeps its own revocation.
    await on(from, async (store) => {
      const { grant, secret_hash } = active;
      await store.noteFirstUse({
        grant_id: grant.grant_id,
        secret_hash,
        now,
        initiator: anInitiator(),
      });
      await store.revokeGrant({
        ...grant,
        application_id: null,
        now: now + 5,
        initiator: anInitiator(),
      });
    });
    const before = await contents(to, filled);
    await copied(from, to);
    expect(await contents(to, filled)).toEqual(before);
    // A code is converted at one side only.
    await on(from, (store) => store.redeemCode(redemptionOf(code, { now })));
    expect(await on(to, (store) => store.redeemCode(redemptionOf(code, { now })))).toBeNull();
  });
}

describe('copy from SQLite to SQLite', () => {
  describeCopy(async () => [at('a.db'), at('b.db')]);

  test('refuses a target with other data, and a source that it does not know', async () => {
    await fill(at('a.db'));
    await fill(at('other.db'));
    const refusal = async (from: string, to: string) => {
      const { code, stderr } = await copy(from, to);
      expect(code).toBe(1);
      expect(stderr).toMatch(/^[^\n]+\n$/);
      return stderr;
    };
    expect(await refusal(at('a.db'), at('other.db'))).toContain('has data of its own');
    expect(await refusal(at('none.db'), at('b.db'))).toContain('There is no database');
    expect(await refusal(at('a.db'), at('a.db'))).toContain('the same database');
    await copied(at('a.db'), at('b.db'));
    expect(await refusal(at('other.db'), at('b.db'))).toContain('is a copy of another database');
    await on(at('empty.db'), async () => {});
    expect(await refusal(at('empty.db'), at('c.db'))).toContain('nothing to copy');

    const newer = new DatabaseSync(join(folder, 'a.db'));
    newer.exec(`PRAGMA user_version = ${migrations.length + 1}`);
    newer.close();
    expect(await refusal(at('a.db'), at('d.db'))).toContain('created by a newer Latchkey');
    const usage = await copy('postgres://localhost/a', at('d.db'));
    expect(usage).toMatchObject({ code: 2, stderr: expect.stringContaining('must start with') });
  });

  test('completes a copy that was interrupted, and takes what was revoked meanwhile', async () => {
    const filled = await fill(at('a.db'));
    await copied(at('a.db'), at('b.db'));
    // As if it had ended after the first grants.
    const target = new DatabaseSync(join(folder, 'b.db'));
    const last =
      filled.grants
        .map(({ grant }) => grant.grant_id)
        .sort()
        .at(-1) ?? '';
    target.prepare('DELETE FROM grants WHERE id = ?').run(uuidToBytes(last));
    target.exec('UPDATE copied_from SET completed = 0');
    target.close();
    await on(at('a.db'), async (store) => {
      await store.revokeGrant({
        ...filled.active.grant,
        application_id: null,
        now: Date.now(),
        initiator: anInitiator(),
      });
      await store.setApplicationDisabled(filled.application.id, true);
    });
    await copied(at('a.db'), at('b.db'));
    expect(await contents(at('b.db'), filled)).toEqual(await contents(at('a.db'), filled));
  });
});

describeOnMongodb('copy', (server) => {
  const databases: { remove(): Promise<void> }[] = [];
  const mongodb = async () => {
    const database = await mongoHarness(server).fresh();
    databases.push(database);
    return database.url;
  };
  afterEach(async () => {
    await Promise.all(databases.splice(0).map((database) => database.remove()));
  });

  describe('from SQLite', () => describeCopy(async () => [at('a.db'), await mongodb()]));
  describe('to SQLite', () => describeCopy(async () => [await mongodb(), at('b.db')]));
});

test('the progress is a bar on a terminal, and a line for each tenth elsewhere', () => {
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  let time = 0;
  const progress = createProgress({ write, isTTY: true }, () => time);
  time = 1_000;
  progress.show(500, 1_000);
  progress.show(501, 1_000);
  time = 2_000;
  progress.show(1_000, 1_000);
  progress.end();
  expect(text).toBe(
    `\r[${'#'.repeat(15)}${'.'.repeat(15)}] 50 %, 500 of 1000 grants, 500/s\u001b[K\r[${'#'.repeat(30)}] 100 %, 1000 of 1000 grants, 500/s\u001b[K\n`,
  );

  text = '';
  const lines = createProgress({ write }, () => time);
  for (let done = 1; done <= 1_000; done += 1) lines.show(done, 1_000);
  lines.end();
  expect(text.split('\n')).toHaveLength(11);
  expect(text).not.toContain('\r');
});
