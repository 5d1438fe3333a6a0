import { randomUUID } from 'node:crypto';
import { type OperationName, operations } from '@latchkey/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isSignedBy, startReceiver } from '../events/receiver.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore, type TestDatabase } from '../http/databases.ts';
import { EVENTS } from '../http/running-server.ts';

describeOnAnyStore('the commands of endpoints', (fresh) => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await fresh();
  });
  afterAll(() => database.remove());

  const latchkey = (words: string[], settings: NodeJS.ProcessEnv = EVENTS) =>
    runInProcess(words, { DATABASE_URL: database.url, ...settings });

  /** Runs a command with `--json`, which has to print one line with exactly the operation's object. */
  async function json(name: OperationName, ...words: string[]) {
    const { code, stdout, stderr } = await latchkey([...words, '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const object = JSON.parse(stdout);
    expect(operations[name].output.parse(object)).toStrictEqual(object);
    return object;
  }

  test('print the secret that messages are signed with, and what to do about what is refused', async () => {
    await json('admin.applications.create', 'app', 'create', 'Acme');
    const receiver = await startReceiver();
    const creating = ['endpoint', 'create', receiver.url];
    const { secret, id } = await json('admin.endpoints.create', ...creating);
    const ping = await json('admin.endpoints.ping', 'endpoint', 'ping', id);
    expect(ping).toMatchObject({ type: 'ping', status: 'delivered' });
    const [heard] = receiver.heard;
    expect(heard && isSignedBy(secret, heard)).toBe(true);
    await receiver.close();
    await json('admin.endpoints.update', 'endpoint', 'update', id, '--all-types', '--disable');
    const refused = await latchkey(['endpoint', 'ping', id]);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toMatch(
      /^endpoint_disabled: .*latchkey endpoint update ID --enable\.\n$/,
    );
    const wrong = await latchkey(['endpoint', 'rotate', id, '--overlap', '604801']);
    expect(wrong).toMatchObject({ code: 1, stdout: '' });
    expect(wrong.stderr).toContain('  --overlap: Must be at most 604800.\n');
  });

  test.each([
    [['endpoint', 'update', randomUUID()], 'give at least one option'],
    [['endpoint', 'update', randomUUID(), '--enable', '--disable'], 'cannot be used with'],
    [['endpoint', 'update', randomUUID(), '--type', 'a', '--all-types'], 'cannot be used with'],
    [['endpoint', 'replay', randomUUID()], '--since'],
    [['endpoint', 'replay', randomUUID(), '--since', '2026-11-21'], 'with its offset'],
    [['delivery', 'list'], 'give exactly one of --endpoint and --grant'],
    [['delivery', 'list', '--endpoint', 'a', '--grant', 'b'], 'give exactly one of'],
  ])('refuse %j', async (words, why) => {
    const { code, stdout, stderr } = await latchkey(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(why);
  });
});
