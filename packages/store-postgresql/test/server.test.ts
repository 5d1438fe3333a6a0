import { randomUUID } from 'node:crypto';
import { defaultTimeouts } from '@latchkey/store/server-store';
import { describeOnEachPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { expect, onTestFinished, test } from 'vitest';
import { Database } from '../src/database.ts';
import { checkRights, missingRights } from '../src/rights.ts';
import { askServer, warningsOf } from '../src/server.ts';

const right = {
  ...{ version: '15.18 (Debian 15.18-0+deb12u1)', number: 150_018, encoding: 'UTF8' },
  ...{ fsync: true, pages: true, checksums: false, names: '' },
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

test.each([
  [{ names: 'b, c' }, /standby_names = 'b, c', .* wait for each/],
  [{ names: 'ANY 1 (b, c)' }, /wait for each/],
  [{ names: 'FIRST 2 (a, b, c)' }, /wait for each/],
  [{ names: '*' }, /wait for each/],
  [{ names: 'ANY 1 ("*")' }, /wait for each/],
  [{ number: 140_020, version: '14.20' }, /is PostgreSQL 14\.20, .* needs 15 or later: upgrade it/],
  [{ fsync: false }, /set fsync = on/],
  [{ encoding: 'SQL_ASCII' }, /create it with ENCODING 'UTF8'/],
])('refuses a server that would break a promise: %o', async (changed, saying) => {
  await expect(ask(changed)).rejects.toMatchObject({
    name: 'BadSetting',
    message: expect.stringMatching(saying),
  });
});

test('warns of what only some file systems may do without', async () => {
  expect(warningsOf(await ask({}))).toEqual([]);
  expect(warningsOf(await ask({ pages: false }))).toEqual([
    expect.stringContaining('full_page_writes = on'),
  ]);
});

describeOnEachPostgresql('the server', (server) => {
  test('is asked for what it does', async () => {
    const { send } = open(await newDatabase());
    expect(await askServer(send)).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/),
      hasFullPageWrites: true,
    });
  });

  test('tells which rights a user lacks, where there are tables', async () => {
    const role = `reader_${randomUUID().slice(0, 8)}`;
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    onTestFinished(async () => void (await query(server, `DROP ROLE ${role}`)));
    const url = await newDatabase();
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

  async function newDatabase(): Promise<string> {
    const url = await createDatabase(server);
    onTestFinished(() => dropDatabase(url));
    return url;
  }
});

function open(url: string) {
  const database = new Database(url, defaultTimeouts);
  onTestFinished(() => database.close());
  return { send: database.send.bind(database) };
}
