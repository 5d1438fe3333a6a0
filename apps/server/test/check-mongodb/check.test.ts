import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeOnEachMongodb } from '@latchkey/test-kit/mongodb/describe';
import { nodeArgumentsFor } from '@latchkey/test-kit/mongodb/test-databases';
import { expect, test } from 'vitest';

const program = fileURLToPath(new URL('check.ts', import.meta.url));

// Without the failover, which `history.test.ts` has.
describeOnEachMongodb('npm run check:mongodb', (server) => {
  test('finds what it expects', async () => {
    const words = [...nodeArgumentsFor(server), program, server, '--no-questions', '--no-failover'];
    const { stdout } = await promisify(execFile)(process.execPath, words).catch((error) => error);
    expect(stdout).not.toContain('FAIL');
    for (const what of ['version', 'rights', 'indexes', 'what commands examine', 'median']) {
      expect(stdout).toMatch(new RegExp(`^ok   .*${what}`, 'm'));
    }
    expect(stdout).toContain('All as expected.');
  });
});
