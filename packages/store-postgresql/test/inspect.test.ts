import { randomUUID } from 'node:crypto';
import {
  describeOnEachPostgresql,
  describeOnPostgresql,
} from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { expect, onTestFinished, test } from 'vitest';
import { inspectPostgresql } from '../src/inspect.ts';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { newDatabaseOn } from './postgresql-harness.ts';

async function inspect(url: string) {
  const found: [check: string, level: string, text: string][] = [];
  for await (const { check, level, found: text, advice } of inspectPostgresql(url, Date.now, {
    reducesRevoked: false,
  })) {
    found.push([check, level, `${text} ${advice ?? ''}`]);
  }
  return found;
}

const withTables = async (url: string) =>
  (await openPostgresqlStore({ url, clock: Date.now })).close();

describeOnEachPostgresql('the doctor', (server) => {
  test('finds what is right, and changes nothing', async () => {
    const url = await newDatabaseOn(server);
    expect(await inspect(url)).toEqual([
      ['store', 'ok', expect.stringContaining('connected in')],
      ['store', 'problem', expect.stringContaining('There are no tables of Latchkey')],
      ['tls', 'ok', expect.anything()],
    ]);
    await withTables(url);
    const found = await inspect(url);
    expect(found.map(([check]) => check)).toEqual([
      ...['store', 'version', 'damage', 'topology', 'indexes', 'rights'],
      ...['write_concern', 'clock', 'clock', 'disk', 'tls'],
    ]);
    expect(found.filter(([, level]) => level === 'problem')).toEqual([]);
  });
});

// A pooler has its own users and its own way to refuse.
describeOnPostgresql('the doctor, asked by those who may not all,', (server) => {
  test('tells what is missing', async () => {
    const role = `doctor_${randomUUID().slice(0, 8)}`;
    await query(server, `CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    onTestFinished(async () => void (await query(server, `DROP ROLE ${role}`)));
    const url = await newDatabaseOn(server);
    await withTables(url);
    await query(url, `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`);
    await query(url, `REVOKE DELETE ON links FROM ${role}`);
    await query(url, 'DROP INDEX links_by_account');
    const found = await inspect(url.replace(/\/\/[^@]*@/, `//${role}:${role}@`));
    expect(found.filter(([check]) => check === 'indexes' || check === 'rights')).toEqual([
      ['indexes', 'warning', expect.stringMatching(/: links_by_account\. .* CONCURRENTLY/s)],
      ['rights', 'problem', expect.stringContaining('GRANT DELETE ON links TO')],
    ]);
  });

  test('tells a server that refuses from one that does not respond', async () => {
    const url = await newDatabaseOn(server);
    expect(await inspect(url.replace(/\/[^/]*$/, '/no-database'))).toEqual([
      ['store', 'problem', expect.stringMatching(/3D000.* create the database/)],
    ]);
    expect(await inspect('postgresql://ada@127.0.0.1:1/latchkey')).toEqual([
      ['store', 'problem', expect.stringContaining('PostgreSQL does not respond')],
    ]);
  });
});
