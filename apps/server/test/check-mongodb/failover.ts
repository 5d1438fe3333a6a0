import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type MongoClient, MongoServerError } from 'mongodb';

const root = fileURLToPath(new URL('../../../..', import.meta.url));
/** Long enough for an election with MongoDB's own settings. */
const PAUSE_MS = 20_000;

/**
 * Runs the history checker on a server, and makes its primary step down meanwhile; asks a person to
 * do that if the user may not.
 *
 * @returns whether the checker found nothing wrong
 */
export async function failover(
  url: string,
  client: MongoClient,
  ask: (request: string) => Promise<boolean>,
): Promise<boolean> {
  process.stdout.write('     failover under load: some minutes\n');
  const tests = spawn('npx', ['vitest', 'run', 'apps/server/test/history/given-server.test.ts'], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    // In the environment, since arguments are shown to all users of the machine.
    env: { ...process.env, TEST_DATABASE_URL: url, CHECK_MONGODB_URL: url },
  });
  const ended = once(tests, 'exit');
  let isOver = false;
  ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, PAUSE_MS))]);
    if (isOver) break;
    try {
      await client.db('admin').command({ replSetStepDown: 10, secondaryCatchUpPeriodSecs: 5 });
    } catch (error) {
      if (error instanceof MongoServerError && (await ask('Restart the primary'))) continue;
    }
  }
  const [code] = await ended;
  return code === 0;
}
