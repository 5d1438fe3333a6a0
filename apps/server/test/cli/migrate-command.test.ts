import { expect, onTestFinished, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnEachStore } from '../http/databases.ts';

// access.test.ts: it makes no database, and needs no EVENTS_KEY.
describeOnEachStore('migrate', (fresh) => {
  test('says that there is nothing to do', async () => {
    const { url: DATABASE_URL, remove } = await fresh();
    onTestFinished(remove);
    await (await driverOf(DATABASE_URL).open(DATABASE_URL, { clock: Date.now })).close();
    expect(await runInProcess(['migrate'], { DATABASE_URL })).toEqual({
      ...{ code: 0, stderr: '' },
      stdout: 'The database has the schema of this version of Latchkey. There is nothing to do.\n',
    });
    expect(await runInProcess(['migrate', '--json'], { DATABASE_URL })).toMatchObject({
      ...{ code: 0, stdout: '{"object":"migration","steps":[]}\n' },
    });
  });
});
