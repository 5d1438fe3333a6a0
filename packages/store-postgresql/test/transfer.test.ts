import { setTimeout as sleep } from 'node:timers/promises';
import { commandChanges } from '@latchkey/store/kinds';
import type { UseMark } from '@latchkey/store/use-mark';
import { describeFields } from '@latchkey/store-suite/fields';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { Client } from 'pg';
import { expect, test } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { openPostgresqlSource, openPostgresqlTarget } from '../src/transfer.ts';
import { newDatabaseOn } from './postgresql-harness.ts';

describeOnPostgresql('a copy', (server) => {
  describeFields(async () => ({
    target: await openPostgresqlTarget(await newDatabaseOn(server)),
    remove: async () => undefined,
  }));

  const record = { id: '01931f4e-0000-7000-8000-000000000001', change: { name: 'a' } };

  test('finds no database of Latchkey where there are no tables, and makes none', async () => {
    const url = await newDatabaseOn(server);
    await expect(openPostgresqlSource(url)).rejects.toThrow('is not one of Latchkey');
    await expect(openPostgresqlSource(url)).rejects.toThrow('is not one of Latchkey');
  });

  test('sees that a service works on the database, and takes its own reads for none', async () => {
    const url = await newDatabaseOn(server);
    const store = await openPostgresqlStore({ url, clock: Date.now });
    const source = await openPostgresqlSource(url);
    // The service has looked for missing indexes.
    await sleep(500);
    const before = await source.activity();
    await source.read(commandChanges, { after: null, limit: 1 });
    expect(await source.activity()).toBe(before);
    await store.ping();
    expect(await source.activity()).not.toBe(before);
    await Promise.all([store.close(), source.close()]);
  });

  test('writes a page only under its own mark, which nobody takes meanwhile', async () => {
    const url = await newDatabaseOn(server);
    const target = await openPostgresqlTarget(url);
    const mark: UseMark = { id: 'a', is: 'copy', other: { id: 'b', name: 'b' }, run: 'c' };
    await target.replace(null, mark);
    // A service is about to take the database into use.
    const service = new Client({ connectionString: url });
    await service.connect();
    await service.query('BEGIN');
    await service.query('UPDATE use_mark SET mark = $1', ['{"id":"a","is":"used"}']);

    const written = target.write(commandChanges, { records: [record] }, mark);
    expect(await Promise.race([written, sleep(300, 'waits')])).toBe('waits');
    await service.query('COMMIT');
    expect(await written).toBe(false);
    expect(await target.read(commandChanges, { after: null, limit: 9 })).toEqual([]);
    await Promise.all([service.end(), target.close()]);
  });
});
