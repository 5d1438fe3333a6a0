import { longer } from '@latchkey/test-kit/long';
import { expect, onTestFinished, test } from 'vitest';
import { startCommand } from '../http/command-process.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { manyGrants } from './many-grants.ts';

const GRANTS = longer(100_000, 1_000_000);

// The program and a few pages take 45 MB, and the garbage of a page is not collected at once. A list that
// is collected first ends at some 60,000 grants.
const NODE_OPTIONS = '--max-old-space-size=96';

describeOnEachStore('a long list', (fresh) => {
  test('takes flat memory', { timeout: longer(600_000, 3_600_000) }, async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const { application } = await manyGrants(database.url, GRANTS);
    const list = (options: string) =>
      startCommand(
        ['grant', 'list', '--app', application.id],
        { DATABASE_URL: database.url, NODE_OPTIONS },
        { within: ['bash', '-c', `"$@" ${options}`, 'bash'] },
      ).ended;
    const [table, json] = [
      await list('| wc -l'),
      await list('--json | grep --only-matching grant_id | wc -l'),
    ];
    for (const { stdout, stderr } of [table, json]) {
      expect({ count: Number(stdout), stderr }).toEqual({ count: GRANTS, stderr: '' });
    }
  });
});
