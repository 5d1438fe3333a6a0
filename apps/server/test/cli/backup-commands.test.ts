import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync } from 'node:zlib';
import type { FullGrant } from '@latchkey/schema';
import { SCHEMA } from '@latchkey/store/schema-version';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { type CommandProcess, runInProcess, startCommand } from '../http/command-process.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { launchServer, listening } from '../http/served-process.ts';
import { unknownCredential } from '../http/unknown-credential.ts';

let folder: string;
const file = (name: string) => join(folder, name);
const environment = () => ({ DATABASE_URL: `file:${file('latchkey.db')}` });
const latchkey = (...words: string[]) => runInProcess(words, environment());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-backup-'));
  // Once its processes have ended: what is said first comes last.
  onTestFinished(() => rm(folder, { recursive: true }));
});

async function start(): Promise<CommandProcess & { url: string }> {
  const process = launchServer(environment().DATABASE_URL, { environment: { METRICS: 'on' } });
  onTestFinished(() => process.kill('SIGKILL'));
  return { ...process, url: await listening(process) };
}

/** Prints what failed, unlike an exit code. */
async function done(...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await latchkey(...words);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Without what SQLite keeps beside an open database, and a reader leaves. */
const files = async () =>
  (await readdir(folder)).filter((name) => !/^latchkey\.db-(wal|shm|reserve)$/.test(name));

async function refused(...words: string[]): Promise<string> {
  const before = await files();
  const { code, stdout, stderr } = await latchkey(...words);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  // One line, and no file of an attempt.
  expect(stderr).toMatch(/^[^\n]+\n$/);
  expect(await files()).toEqual(before);
  return stderr;
}

const statusOf = async (server: { url: string }, grant: FullGrant) =>
  (await send(server, { method: 'GET', path: '/v1/grant', authorization: asBearer(grant) })).status;

const names = async () =>
  JSON.parse(await done('app', 'list', '--json')).data.map(({ name }: { name: string }) => name);

/** Kills a command in the place of its nth change of a name in the file system. @returns whether it got there */
async function killedAt(nth: number, ...words: string[]): Promise<boolean> {
  const hooks = `
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    let left = ${nth};
    for (const name of ['renameSync', 'linkSync']) {
      const change = fs[name];
      fs[name] = (...input) => {
        left -= 1;
        if (left === 0) process.kill(process.pid, 'SIGKILL');
        return change(...input);
      };
    }
    syncBuiltinESMExports();`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(hooks)}`;
  const { code, stderr } = await startCommand(words, { ...environment(), NODE_OPTIONS }).ended;
  expect([null, 0], stderr).toContain(code);
  return code === null;
}

/** Opens a file and changes it, as a program of another time would. */
function edit(name: string, statements: string): void {
  const database = new DatabaseSync(file(name), { defensive: false });
  database.exec(statements);
  database.close();
}

describe('backup', () => {
  test('of a service that runs is one verified file for its owner alone', async () => {
    const server = await start();
    const { link } = await linkedApplication(server);
    await link();
    // The newest writes are in the write-ahead log.
    expect((await stat(file('latchkey.db-wal'))).size).toBeGreaterThan(0);

    const age = async () => {
      const { text } = await send(server, { method: 'GET', path: '/metrics' });
      return /^latchkey_backup_age_seconds (\S+)$/m.exec(text)?.[1];
    };
    expect(await age()).toBe('+Inf');

    const text = await done('backup', file('backup.db'));
    expect(Number(await age())).toBeGreaterThanOrEqual(0);
    expect(text).toMatch(
      /^\S+backup\.db is a verified backup of \S+: 1 applications, 1 accounts and 1 grants in \d+ bytes, schema version \d+, made at \S+\.\n$/,
    );
    expect((await stat(file('backup.db'))).mode & 0o777).toBe(0o600);
    expect((await readdir(folder)).filter((name) => name.startsWith('backup'))).toEqual([
      'backup.db',
    ]);
    await link();
    expect(JSON.parse(await done('backup', file('backup.db'), '--json'))).toMatchObject({
      object: 'backup',
      grants: 2,
      schema_version: SCHEMA.version,
    });
  });

  test('replaces an earlier backup and nothing else', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    await done('backup', file('backup.db'));
    // That it was backed up is noted in the file itself.
    expect(existsSync(file('latchkey.db-wal'))).toBe(false);

    await writeFile(file('notes.txt'), 'mine');
    expect(await refused('backup', file('notes.txt'))).toContain('is not a backup of Latchkey');
    expect(await readFile(file('notes.txt'), 'utf8')).toBe('mine');
    expect(await refused('backup', file('latchkey.db'))).toContain('is the database itself');
    await symlink(file('latchkey.db'), file('link.db'));
    expect(await refused('backup', file('link.db'))).toContain('is the database itself');
    expect(await refused('backup', join(folder, 'no', 'backup.db'))).toContain('create it first');
    // A backup that somebody uses as a database.
    await cp(file('backup.db'), file('used.db'));
    const used = { DATABASE_URL: `file:${file('used.db')}` };
    expect(await runInProcess(['app', 'list'], used)).toMatchObject({ code: 0 });
    expect(await refused('backup', file('used.db'))).toContain('is not a backup of Latchkey');
    // No restore would take the backup beside it.
    await writeFile(file('gone.db-wal'), 'the log of another database');
    expect(await refused('backup', file('gone.db'))).toContain('gone.db-wal is the log of another');
    expect(await names()).toEqual(['Acme']);
  });

  test('deletes what a killed backup left, and leaves that of one that runs', async () => {
    await done('app', 'create', 'Acme');
    // No process has this id: it is above the greatest that Linux gives.
    await writeFile(file('backup.db.4194305.partial'), '');
    await writeFile(file(`backup.db.${process.ppid}.partial`), '');
    await done('backup', file('backup.db'));
    const left = (await readdir(folder)).filter((name) => name.endsWith('.partial'));
    expect(left).toEqual([`backup.db.${process.ppid}.partial`]);
  });

  test('that was killed leaves a file, which doctor names until the next backup deletes it', async () => {
    await done('app', 'create', 'Acme');
    await killedAt(1, 'backup', file('backup.db'));
    const [left = ''] = (await readdir(folder)).filter((name) => name.endsWith('.partial'));
    expect(left).toMatch(/^backup\.db\.\d+\.partial$/);
    const named = `^warning  disk .* killed left ${file(left)}, `;
    expect(await done('doctor')).toMatch(new RegExp(named, 'm'));
    await done('backup', file('backup.db'));
    expect(await done('doctor')).not.toContain('.partial');
  });

  test('never migrates, and refuses what it does not know', async () => {
    expect(await refused('backup', file('backup.db'))).toContain('There is no database at');
    await done('app', 'create', 'Acme');
    edit('latchkey.db', `PRAGMA user_version = ${SCHEMA.version + 1}`);
    expect(await refused('backup', file('backup.db'))).toContain('created by a newer Latchkey');
    await writeFile(file('latchkey.db'), '');
    expect(await refused('backup', file('backup.db'))).toContain('not a database of Latchkey');
    expect((await stat(file('latchkey.db'))).size).toBe(0);
  });

  test('finds a damaged page, and leaves the earlier backup in its place', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    const before = await readFile(file('backup.db'));
    // An index that lacks a row: only the integrity check sees it.
    const index = 'rate_limit_counts_by_end';
    edit(
      'latchkey.db',
      `PRAGMA writable_schema = ON;
      INSERT INTO rate_limit_counts VALUES ('a', 1, 1);
      UPDATE sqlite_schema SET sql = 'CREATE INDEX ${index} ON rate_limit_counts (ends_at + 1)'
        WHERE name = '${index}'`,
    );
    expect(await refused('backup', file('backup.db'))).toContain('No backup was made');
    expect(await readFile(file('backup.db'))).toEqual(before);
  });
});

describe('restore', () => {
  test('after a kill brings the backup back and nothing else', async () => {
    const server = await start();
    const { link } = await linkedApplication(server);
    const kept = await link();
    await done('backup', file('backup.db'));
    const lost = await link();
    await done('app', 'create', 'after');
    server.kill('SIGKILL');
    await server.ended;
    expect((await stat(file('latchkey.db-wal'))).size).toBeGreaterThan(0);

    expect(await refused('restore', file('backup.db'))).toMatch(
      /^There is no log since \S+\. What ended there would work again\. Nothing was changed\. .*--accept-gap\.$/m,
    );
    const text = await done('restore', file('backup.db'), '--accept-gap');
    expect(text).toContain('WORKS AGAIN');
    const aside = (await readdir(folder)).filter((name) => name.startsWith('before-restore-'));
    expect(aside).toHaveLength(1);
    // A service that ran for 2 s before it was killed has made the reserve of the disk.
    const present = (await readdir(folder)).filter((name) => name !== 'latchkey.db-reserve');
    expect(present.sort()).toEqual(['backup.db', ...aside, 'latchkey.db'].sort());
    expect((await stat(file('latchkey.db'))).mode & 0o777).toBe(0o600);
    expect(await names()).toEqual(['Acme']);
    const restored = await start();
    expect(await statusOf(restored, kept)).toBe(200);
    expect(await statusOf(restored, lost)).toBe(401);
  });

  test('creates the database where there is none', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    for (const name of await readdir(folder)) {
      if (name !== 'backup.db') await rm(file(name));
    }
    // The log of a database that is gone.
    await writeFile(file('latchkey.db-wal'), 'another log');
    await done('restore', file('backup.db'), '--accept-gap');
    expect(await readdir(folder)).not.toContain('latchkey.db-wal');
    expect(await names()).toEqual(['Acme']);
  });

  test('that was killed leaves the former database or the restored one', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    await done('app', 'create', 'after');
    let kills = 0;
    while (await killedAt(kills + 1, 'restore', file('backup.db'), '--accept-gap')) {
      kills += 1;
      expect((await names()).sort()).toEqual(['Acme', 'after']);
    }
    // One that keeps the former database, and one that replaces it.
    expect(kills).toBeGreaterThanOrEqual(2);
    expect(await names()).toEqual(['Acme']);
    expect((await readdir(folder)).filter((name) => name.endsWith('.partial'))).toEqual([]);
  });

  test('that was killed where there was no database is not followed by an empty one', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    await rm(file('latchkey.db'));
    expect(await killedAt(1, 'restore', file('backup.db'), '--accept-gap')).toBe(true);
    expect(await refused('app', 'create', 'other')).toContain('`latchkey restore` was killed');
    const server = launchServer(environment().DATABASE_URL);
    expect((await server.ended).code).toBe(78);
    const { stdout } = await latchkey('doctor');
    expect(stdout).toMatch(/^warning {2}disk .* killed left \S+\.partial, /m);
    await done('restore', file('backup.db'), '--accept-gap');
    expect(await names()).toEqual(['Acme']);
  });

  test('takes a copy that another program made while the service ran', async () => {
    const server = await start();
    const { link, bearer } = await linkedApplication(server);
    const revoked = await link();
    const since = new Date().toISOString();
    edit('latchkey.db', `VACUUM INTO '${file('vacuumed.db')}'`);
    await succeed(server, 'grants.revoke', { grant_id: revoked.grant_id }, bearer);
    server.kill('SIGTERM');
    await server.ended;
    await writeFile(file('service.log'), server.run.stderr);
    // As it is, nobody can tell it from a file that lost its log.
    const copied = { DATABASE_URL: `file:${file('vacuumed.db')}` };
    expect((await runInProcess(['app', 'list'], copied)).code).toBe(1);
    const logs = ['--log', file('service.log'), '--accept-gap'];
    expect(await refused('restore', file('vacuumed.db'), ...logs, '--since', since)).toContain(
      'may lack what was changed since',
    );
    const early = new Date(Date.parse(since) - 600_000).toISOString();
    await done('restore', file('vacuumed.db'), ...logs, '--since', early);
    expect(await statusOf(await start(), revoked)).toBe(401);
  });

  test('refuses while a process uses the database', async () => {
    const server = await start();
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    // It is idle: it holds no lock of a transaction.
    const restoring = ['restore', file('backup.db')];
    const onTerminal = (...words: string[]) =>
      runInProcess([...restoring, ...words], environment(), { answer: '' });
    // It tries for 5 s, and says so on a terminal.
    const [inPipe, shown, json] = await Promise.all([
      refused(...restoring),
      onTerminal(),
      onTerminal('--json'),
    ]);
    expect(inPipe).toContain('Stop every service');
    expect(shown.stderr).toMatch(/latchkey restore, \d+ s/);
    expect(json.stderr).toBe(inPipe);
    expect((await send(server, { method: 'GET', path: '/readyz' })).status).toBe(200);
  });

  test.each([
    ['trigger keep', 'CREATE TRIGGER keep BEFORE UPDATE ON grants BEGIN SELECT RAISE(IGNORE); END'],
    ['view report', 'CREATE VIEW report AS SELECT id FROM grants'],
    ['table words', 'CREATE VIRTUAL TABLE words USING fts5(word)'],
    [
      String.raw`trigger \u001b[2Jkeep`,
      'CREATE TRIGGER "\u001b[2Jkeep" AFTER INSERT ON grants BEGIN SELECT 1; END',
    ],
    ['table notes', 'CREATE TABLE notes (grant_id BLOB REFERENCES grants (id))'],
  ])('and backup and doctor refuse a %s, and restore what has it', async (name, statement) => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    for (const one of ['latchkey.db', 'backup.db']) edit(one, statement);
    const doctor = await latchkey('doctor');
    expect(doctor).toMatchObject({ code: 1, stdout: expect.stringContaining(name) });
    expect(await refused('backup', file('new.db'))).toContain(name);
    expect(await refused('restore', file('backup.db'), '--accept-gap')).toContain(name);
  });

  test('leaves plain tables of another program behind, as backup does', async () => {
    await done('app', 'create', 'Acme');
    const statement = `CREATE TABLE "a ""table"" (of another)" (word TEXT PRIMARY KEY);
      INSERT INTO "a ""table"" (of another)" VALUES ('a word of another program')`;
    edit('latchkey.db', statement);
    // No problem: its owner needs it.
    const doctor = await latchkey('doctor');
    expect(doctor).toMatchObject({ code: 0, stdout: expect.stringContaining('"table"') });
    await done('backup', file('backup.db'));
    // As a replicator brings a database back.
    edit('latchkey.db', `VACUUM INTO '${file('replica.db')}'`);
    for (const name of ['backup.db', 'replica.db']) {
      await done('restore', file(name), '--accept-gap');
      expect(await readFile(file(name), 'utf8')).toContain(
        name === 'replica.db' ? 'a word of another program' : 'Acme',
      );
      expect(await readFile(file('latchkey.db'), 'utf8')).not.toContain('a word of another');
      expect(await names()).toEqual(['Acme']);
    }
    expect(await readFile(file('backup.db'), 'utf8')).not.toContain('a word of another');
  });

  test('refuses what is not a whole backup', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    expect(await refused('restore', file('none.db'))).toContain('There is no file');
    expect(await refused('restore', file('latchkey.db'))).toContain('is the database itself');

    await cp(file('backup.db'), file('cut.db'));
    await writeFile(file('cut.db'), (await readFile(file('cut.db'))).subarray(0, 8_192));
    expect(await refused('restore', file('cut.db'))).toContain('is damaged');
    await writeFile(file('notes.txt'), 'no database at all'.repeat(99));
    expect(await refused('restore', file('notes.txt'))).toContain('is not a backup of Latchkey');
    await cp(file('backup.db'), file('open.db'));
    await writeFile(file('open.db-wal'), 'the latest writes');
    expect(await refused('restore', file('open.db'))).toContain('its latest writes are in');
    await cp(file('backup.db'), file('newer.db'));
    edit('newer.db', `PRAGMA user_version = ${SCHEMA.version + 1}`);
    expect(await refused('restore', file('newer.db'))).toContain('created by a newer Latchkey');
    expect(await names()).toEqual(['Acme']);
  });
});

/** A service that was backed up, and revoked a lot afterwards. */
async function revokedSince() {
  const server = await start();
  const acme = await linkedApplication(server);
  const other = await linkedApplication(server);
  const call = (name: Parameters<typeof succeed>[1], input: object) =>
    succeed(server, name, input as never, operator);
  const { application_id } = acme;
  const [kept, byApplication, byToken, byOperator, recovered] = [
    await acme.link(),
    await acme.link(),
    await acme.link(),
    await acme.link(),
    await acme.link(),
  ];
  const [converted, cancelled, open] = [await acme.issue(), await acme.issue(), await acme.issue()];
  const added = await call('admin.applications.secrets.create', { application_id });
  const deleted = await linkedApplication(server);
  const erased = await linkedApplication(server);
  const [ofDeleted, ofErased] = [await deleted.link(), await erased.link()];
  const ofOther = { application_id: other.application_id };
  const disconnected = [await other.link(), await other.link()] as const;
  const ofConnection = await other.issue();
  await done('backup', file('backup.db'));

  await succeed(server, 'grants.revoke', { grant_id: byApplication.grant_id }, acme.bearer);
  const token = byToken.grant_secret;
  await succeed(server, 'grants.revokeToken', { token }, acme.bearer);
  // Nothing happens, so nothing is to happen again: the id in it is that of another grant.
  const madeUp = unknownCredential('grantSecret', kept.grant_id);
  await succeed(server, 'grants.revokeToken', { token: madeUp }, acme.bearer);
  await call('admin.grants.revoke', { grant_id: byOperator.grant_id });
  const { account_id } = other;
  await call('admin.connections.revoke', { account_id, application_id: other.application_id });
  await succeed(server, 'grants.recover', { grant_id: recovered.grant_id }, acme.bearer);
  await acme.convert(converted.code);
  await call('admin.codes.cancel', { grant_id: cancelled.grant_id });
  const secret_id = added.id;
  await call('admin.applications.secrets.revoke', { application_id, secret_id });
  // Switched off and on: it stays on.
  await call('admin.applications.disable', { application_id });
  await call('admin.applications.enable', { application_id });
  await call('admin.applications.enable', ofOther);
  await call('admin.applications.disable', ofOther);
  await call('admin.applications.disable', { application_id: deleted.application_id });
  await call('admin.applications.delete', { application_id: deleted.application_id });
  await call('admin.accounts.erase', { account_id: erased.account_id });
  const unknown = await acme.link();
  await succeed(server, 'grants.revoke', { grant_id: unknown.grant_id }, acme.bearer);
  server.kill('SIGTERM');
  const log = (await server.ended).stderr;

  async function expectRevoked() {
    const restored = await start();
    expect(await statusOf(restored, kept)).toBe(200);
    expect(await statusOf(restored, byApplication)).toBe(401);
    expect(await statusOf(restored, byToken)).toBe(401);
    expect(await statusOf(restored, byOperator)).toBe(401);
    await succeed(restored, 'admin.applications.enable', ofOther, operator);
    for (const grant of disconnected) expect(await statusOf(restored, grant)).toBe(401);
    await succeed(restored, 'admin.applications.disable', ofOther, operator);
    expect(await statusOf(restored, recovered)).toBe(401);
    expect(await statusOf(restored, ofDeleted)).toBe(401);
    expect(await statusOf(restored, ofErased)).toBe(401);
    const { data: accounts } = JSON.parse(await done('account', 'list', '--json'));
    expect(accounts.map(({ id }: { id: string }) => id)).not.toContain(erased.account_id);
    const convert = (code: string) =>
      send(restored, {
        method: 'POST',
        path: '/oauth/convert',
        authorization: acme.bearer,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    expect((await convert(converted.code)).status).toBe(400);
    expect((await convert(cancelled.code)).status).toBe(400);

    expect(await refused('code', 'cancel', ofConnection.grant_id)).toContain('grant_not_found');
    expect((await convert(open.code)).status).toBe(200);
    const { data } = JSON.parse(await done('app', 'list', '--json'));
    const states = data.map(({ id, disabled, secrets }: Record<string, unknown>) => [
      id,
      disabled,
      (secrets as unknown[]).length,
    ]);
    expect(states).toEqual([
      [erased.application_id, false, 1],
      [other.application_id, true, 1],
      [application_id, false, 1],
    ]);
    const history = await done('grant', 'history', byApplication.grant_id);
    expect(history).toMatch(/revoked: done \(application\) {2}by the application with its secret/);
    restored.kill('SIGTERM');
    await restored.ended;
  }
  return { log, expectRevoked };
}

describe('what was revoked since the backup', () => {
  test('is revoked again before the database is in its place', async () => {
    const { log, expectRevoked } = await revokedSince();
    const half = log.lastIndexOf('\n', log.length / 2);
    // Two logs in any order, with what is found in logs: other programs, half lines, wrapped lines.
    await writeFile(
      file('new.log'),
      [
        'Traceback (most recent call last):',
        '{"level":30,"time":"2026-11-2',
        '\u0000\u0001 {"level":30} }{ {"msg":"audit","result":"done"}',
        `{"padding":"${'x'.repeat(200_000)}"}`,
        // As after a kill in the middle of a line.
        log.slice(half + 1).replaceAll('\n{', '\n{"level":30,"ti{'),
      ].join('\n'),
    );
    const wrapped = log
      .slice(0, half)
      .split('\n')
      .map((line, index) =>
        index % 2 === 0
          ? `Nov 21 02:15:30 host latchkey[7]: ${line}`
          : JSON.stringify({ log: `${line}\n`, stream: 'stderr' }),
      );
    await writeFile(file('old.log.gz'), gzipSync(wrapped.join('\n')));

    const logs = ['--log', file('new.log'), file('old.log.gz')];
    const text = await done('restore', file('backup.db'), ...logs);
    expect(text).toContain(
      '5 grants revoked, 2 codes cancelled, 1 secrets removed, 1 applications disabled, 1 applications deleted, 1 accounts erased',
    );
    expect(text).not.toContain('WORKS AGAIN');
    await expectRevoked();
  });

  test('is revoked again by a step of its own, and repeating it changes nothing', async () => {
    const { log, expectRevoked } = await revokedSince();
    await writeFile(file('latchkey.log'), log);
    const text = await done('restore', file('backup.db'), '--accept-gap');
    const since = /--since (\S+) LOG/.exec(text)?.[1] ?? '';
    const again = ['revoke-again', '--since', since, file('latchkey.log'), '--json'];
    expect(JSON.parse(await done(...again))).toMatchObject({
      ...{ object: 'revoked_again', grants_revoked: 5, codes_cancelled: 2 },
      ...{ secrets_removed: 1, applications_disabled: 1 },
      ...{ applications_deleted: 1, accounts_erased: 1 },
    });
    expect(JSON.parse(await done(...again))).toMatchObject({
      ...{ grants_revoked: 0, codes_cancelled: 0, secrets_removed: 0, applications_disabled: 0 },
      ...{ applications_deleted: 0, accounts_erased: 0 },
    });
    await expectRevoked();
  });

  test('needs a log of the service', async () => {
    await done('app', 'create', 'Acme');
    await done('backup', file('backup.db'));
    await writeFile(file('other.log'), '{"a":1}\nhello\n');
    const restoring = ['restore', file('backup.db'), '--log'];
    expect(await refused(...restoring, file('none.log'))).toContain('There is no log');
    expect(await refused(...restoring, file('other.log'))).toContain(
      "no line of the service's log",
    );
    const { code, stderr } = await latchkey('revoke-again', file('other.log'));
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--since') });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    for (const [since, why] of [
      ['2026-11-21T02:15:30', 'with its offset'],
      ['2026-11-21', 'with its offset'],
      [tomorrow, 'in the future'],
    ] as const) {
      for (const words of [['revoke-again', file('other.log')], restoring.slice(0, 2)]) {
        const run = await latchkey(...words, '--since', since);
        expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
      }
    }
    // Made by another program: it does not say when.
    edit('latchkey.db', `VACUUM INTO '${file('foreign.db')}'`);
    const foreign = await latchkey('restore', file('foreign.db'), '--log', file('other.log'));
    expect(foreign).toMatchObject({ code: 2, stderr: expect.stringContaining('Add --since') });
  });
});

describe('logs with a gap', () => {
  /** Two runs of a service: before and after the backup, and then again. A grant ends in the second one. */
  async function ended() {
    const first = await start();
    const { link } = await linkedApplication(first);
    const [{ grant_id }, { grant_id: other }] = [await link(), await link()];
    await done('backup', file('backup.db'));
    first.kill('SIGTERM');
    const log = [(await first.ended).stderr];
    const second = await start();
    await succeed(second, 'admin.grants.revoke', { grant_id }, operator);
    second.kill('SIGTERM');
    log.push((await second.ended).stderr);
    return { log: log as [string, string], grant_id, other };
  }
  const restoring = async (log: string) => {
    await writeFile(file('latchkey.log'), log);
    return ['restore', file('backup.db'), '--log', file('latchkey.log')];
  };
  const withoutLine = (log: string, part: string) =>
    log
      .split('\n')
      .filter((line) => !line.includes(part))
      .join('\n');

  test('are refused until each line, number and process is there, or the gap is accepted', async () => {
    const { log, grant_id } = await ended();
    const instance = /"action":"admin.grants.revoke".*"instance":"([^"]+)"/.exec(log[1])?.[1];
    const of = `of the process ${instance}`;
    for (const [lines, gap] of [
      [log[0], 'The numbers 3 to 4 of the log are missing, after 20'],
      [log[1], 'The number 2 of the log is missing, before 20'],
      [log[0] + withoutLine(log[1], '"number":3,'), 'The number 3 of the log is missing, after 20'],
      [log[0] + withoutLine(log[1], 'admin.grants.revoke'), `The audit line 1 ${of} is missing`],
    ] as const) {
      const message = await refused(...(await restoring(lines)));
      expect(message).toContain(gap);
      expect(message).toContain('Nothing was changed.');
    }
    const whole = await done(...(await restoring(log.join(''))));
    expect(whole).toContain('1 grants revoked');
    expect(whole).not.toMatch(/GAP|NOT PROVEN/);
    // The database that was replaced is gone, and with it what it knew.
    const accepted = await done(...(await restoring(log[0])), '--accept-gap', '--json');
    expect(JSON.parse(accepted).revoked_again).toMatchObject({
      grants_revoked: 0,
      gaps: [expect.stringContaining('The numbers 3 to 4 of the log are missing')],
    });
    expect(await done('grant', 'history', grant_id)).not.toContain('revoked');
  });

  test('lack nothing that a command did, logged by a service or not', async () => {
    const { log, other } = await ended();
    await done('grant', 'revoke', other);
    // No service has written what these commands did: the replaced database knows it.
    const text = await done(...(await restoring(log.join(''))));
    expect(text).not.toMatch(/GAP|NOT PROVEN/);
    expect(await done('grant', 'history', other)).toMatch(
      /revoked: done \(host\) {2}on the command line/,
    );

    await rm(file('latchkey.db'));
    const lost = await done(...(await restoring(log.join(''))));
    expect(lost).toMatch(
      /NOT PROVEN: After the number 4 of the log, at \S+, nothing proves what services and commands did\./,
    );
  });

  test('of a killed service say from when on nothing is proven', async () => {
    const server = await start();
    await done('backup', file('backup.db'));
    // Its lines are written behind that of the start.
    await linkedApplication(server);
    server.kill('SIGKILL');
    const text = await done(...(await restoring((await server.ended).stderr)));
    expect(text).toMatch(/NOT PROVEN: The process \S+ was not stopped in order: nothing proves/);
  });
});

test.each([
  ['mongodb://127.0.0.1:1/latchkey', 'backup', 'mongodump --oplog'],
  ['mongodb://127.0.0.1:1/latchkey', 'restore', 'mongorestore --oplogReplay'],
  ['postgresql://latchkey@127.0.0.1:1/latchkey', 'backup', 'pg_dump'],
  ['postgresql://latchkey@127.0.0.1:1/latchkey', 'restore', 'latchkey revoke-again'],
])('%s has a %s of its own', async (DATABASE_URL, command, way) => {
  const run = await runInProcess([command, file('backup.db')], { DATABASE_URL });
  expect(run).toMatchObject({ code: 1, stderr: expect.stringContaining(way) });
  expect(run.stderr).toMatch(/^[^\n]+\n$/);
});
