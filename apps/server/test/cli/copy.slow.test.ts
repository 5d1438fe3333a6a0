import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { grants } from '@latchkey/store/kinds';
import { mongoHarness } from '@latchkey/store-mongodb/test/mongo-harness';
import { longer } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { MongoClient } from 'mongodb';
import { expect, onTestFinished, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { startCommand } from '../http/command-process.ts';
import { manyGrants } from './many-grants.ts';

const GRANTS = longer(20_000, 1_000_000);

// The grants of `npm run test:long` take 1 GB as objects. The program and a few pages take 40 MB, and the
// garbage of a page is not collected at once.
const NODE_OPTIONS = '--max-old-space-size=96';

describeOnMongodb('a large copy', (server) => {
  test('takes flat memory, is completed after a kill, and comes back the same', {
    timeout: longer(600_000, 3_600_000),
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-copy-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const database = await mongoHarness(server).fresh();
    onTestFinished(() => database.remove());
    const [first = '', back = ''] = ['a.db', 'back.db'].map((name) => `file:${join(folder, name)}`);
    await manyGrants(first, GRANTS);
    const copy = (from = '', to = '', ...words: string[]) =>
      startCommand(['copy', '--from', from, '--to', to, '--json', ...words], {
        DATABASE_URL: database.url,
        NODE_OPTIONS,
      });

    const killed = copy(first, database.url);
    await using client = new MongoClient(database.url);
    while ((await client.db().collection('grants').estimatedDocumentCount()) < GRANTS / 10) {
      expect(killed.run.code, killed.run.stderr).toBeNull();
    }
    killed.kill('SIGKILL');
    await killed.ended;
    const expected = { object: 'copy', applications: 1, accounts: 1, grants: GRANTS };
    for (const [from, to, ...words] of [
      // What is not the last copy is not copied on.
      [first, database.url, '--last'],
      [database.url, back],
      [first, database.url, '--last'],
    ]) {
      const { code, stdout, stderr } = await copy(from, to, ...words).ended;
      expect(code, stderr).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject(expected);
    }

    const [source, target] = [
      await driverOf(first).openSource(first),
      await driverOf(back).openSource(back),
    ];
    for (let after: string | null = null; ; ) {
      const page = await source.read(grants, { after, limit: 10_000 });
      expect(await target.read(grants, { after, limit: 10_000 })).toEqual(page);
      if (page.length === 0) break;
      after = (page.at(-1)?.id as string | undefined) ?? null;
    }
    await Promise.all([source.close(), target.close()]);
  });
});
