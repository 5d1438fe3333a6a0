import { randomUUID } from 'node:crypto';
import { defaultTimeouts } from '@latchkey/store/server-store';
import {
  describeOnEachPostgresql,
  describeOnPostgresql,
} from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { Database, type Send } from '../src/database.ts';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { checkRights, missingRights } from '../src/rights.ts';
import { askServer, warningsOf } from '../src/server.ts';
import { newDatabaseOn } from './postgresql-harness.ts';

const right = {
  ...{ version: '15.18 (Debian 15.18-0+deb12u1)', number: 150_018, encoding: 'UTF8' },
  ...{ fsync: true, pages: true, checksums: false, names: '' },
  ...{ isolation: 'read committed', open: null as string | null, senders: 10 },
  twins: [] as string[],
};
const ask = (changed: Partial<typeof right>) => askServer(async () => [{ ...right, ...changed }]);

test.each([
  ['', []],
  ['b', ['b']],
  ['1 (b)', ['b']],
  ['b, B', ['B']],
  ['FIRST 2 (b, "c d")', ['b', 'c d']],
  ['any 3(b,"c,(""d",e)', ['b', 'c,("d', 'e']],
])('waits for each standby that is named: %s', async (names, standbys) => {
  expect((await ask({ names })).standbys).toEqual(standbys);
});

test('waits for no standby that is named if there can be none', async () => {
  expect((await ask({ names: 'b', senders: 0 })).standbys).toEqual([]);
});

test.each([
  [{ names: 'b, c' }, /standby_names = 'b, c', .* wait for each/],
  [{ names: 'ANY 1 (b, c)' }, /wait for each/],
  [{ names: 'FIRST 2 (a, b, c)' }, /wait for each/],
  [{ names: '*' }, /wait for each/],
  [{ names: 'ANY 1 ("*")' }, /wait for each/],
  [{ number: 140_020, version: '14.20' }, /is PostgreSQL 14\.20, .* needs 15 or later: upgrade it/],
  [{ fsync: false }, /set fsync = on/],
  [{ isolation: 'serializable' }, /set it to 'read committed' for the user/],
  [{ encoding: 'SQL_ASCII' }, /create it with ENCODING 'UTF8'/],
])('refuses a server that would break a promise: %o', async (changed, saying) => {
  await expect(ask(changed)).rejects.toMatchObject({
    name: 'BadSetting',
    message: expect.stringMatching(saying),
  });
});

test('warns of what is right for some', async () => {
  expect(warningsOf(await ask({}))).toEqual([]);
  expect(warningsOf(await ask({ pages: false }))).toEqual([
    expect.stringContaining('full_page_writes = on'),
  ]);
  expect(warningsOf(await ask({ names: 'B', twins: ['b', 'pg_basebackup'] }))).toEqual([
    expect.stringContaining('Two standbys are called B'),
  ]);
  expect(warningsOf(await ask({ open: 'public' }))).toEqual([
    expect.stringContaining('REVOKE CREATE ON SCHEMA public FROM PUBLIC'),
  ]);
});

describeOnEachPostgresql('the server', (server) => {
  test('is asked for what it does', async () => {
    const { send } = open(await newDatabaseOn(server));
    expect(await askServer(send)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/),
      hasFullPageWrites: true,
      openSchema: null,
    });
    await send('GRANT CREATE ON SCHEMA public TO PUBLIC');
    expect(await askServer(send)).toMatchObject({ openSchema: 'public' });
  });
});

// A pooler has its own users and its own way to refuse.
describeOnPostgresql('who asks the server', (server) => {
  test('is asked whether two of its standbys have one name', async () => {
    const url = await newDatabaseOn(server);
    const name = `twin-${randomUUID()}`;
    const twin = { connectionString: url, application_name: name, replication: 'database' };
    const clients = [new Client(twin), new Client(twin)];
    for (const client of clients) await client.connect();
    onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
    const { send } = open(url);
    const named: Send = async (text, values) =>
      (await send(text, values)).map((row) => ({ ...row, names: name.toUpperCase() }));
    expect(await askServer(named)).toMatchObject({ twins: [name.toUpperCase()] });
  });

  test.each([
    ['password', (url: string) => url.replace(/[^/@]*@/, 'nobody:wrong@')],
    ['database', (url: string) => `${url}-other`],
  ])('fails the start if it refuses the %s', async (_, wrong) => {
    const url = wrong(await newDatabaseOn(server));
    await expect(openPostgresqlStore({ url, clock: Date.now })).rejects.toMatchObject({
      name: 'BadSetting',
      message: expect.stringMatching(/^DATABASE_URL: PostgreSQL refuses it/),
    });
  });

  test('that writes nothing, as a standby, keeps no connection: another one may lead to the primary', async () => {
    const url = await newDatabaseOn(server);
    const { send } = open(url);
    const name = new URL(url).pathname.slice(1);
    await send(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const other = new Database(url, defaultTimeouts);
    onTestFinished(() => other.close());
    await expect(other.send('CREATE TABLE things ()')).rejects.toMatchObject({ code: '25006' });
    expect(other.pool.totalCount).toBe(0);
  });

  test('fails the start if the user sees no schema', async () => {
    const url = await newDatabaseOn(server);
    const { send } = open(url);
    const name = new URL(url).pathname.slice(1);
    await send(`ALTER DATABASE "${name}" SET search_path = nowhere`);
    await expect(openPostgresqlStore({ url, clock: Date.now })).rejects.toMatchObject({
      name: 'BadSetting',
      message: expect.stringContaining('correct search_path'),
    });
  });

  test('tells which rights a user lacks, where there are tables', async () => {
    const role = `reader_${randomUUID().slice(0, 8)}`;
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    onTestFinished(async () => void (await query(server, `DROP ROLE ${role}`)));
    const url = await newDatabaseOn(server);
    const { send } = open(url);
    await send('CREATE TABLE grants (id int)');
    await send('CREATE TABLE links (id int)');
    await send(`GRANT ALL ON grants TO ${role}`);
    await send(`GRANT SELECT, INSERT ON links TO ${role}`);
    const tables = ['grants', 'links', 'missing'];
    await checkRights(send, tables);
    const asRole = open(url.replace(/\/\/[^@]*@/, `//${role}:${role}@`)).send;
    expect(await missingRights(asRole, tables)).toEqual([
      { table: 'links', rights: ['UPDATE', 'DELETE'] },
    ]);
    await expect(checkRights(asRole, tables)).rejects.toMatchObject({
      name: 'BadSetting',
      message: expect.stringContaining('GRANT UPDATE, DELETE ON links TO'),
    });
  });
});

function open(url: string) {
  const database = new Database(url, defaultTimeouts);
  onTestFinished(() => database.close());
  return { send: database.send.bind(database) };
}
