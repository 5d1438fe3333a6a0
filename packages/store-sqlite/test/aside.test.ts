import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runAside } from '../src/aside.ts';
import { sqliteHarness } from './sqlite-harness.ts';

test('a failure on another thread has the code of SQLite', async () => {
  const missing = join(tmpdir(), 'no folder', 'latchkey.db');
  const failure = (path: string, statement: string) =>
    runAside({ path, statement }).catch((error: unknown) => error);
  const opening = await failure(missing, 'SELECT 1');
  expect(opening).toBeInstanceOf(Error);
  expect(opening).toMatchObject({ message: 'unable to open database file', errcode: 14 });
  const database = await sqliteHarness.fresh();
  await (await database.open()).close();
  expect(await failure(database.path, 'DELETE FROM grants')).toMatchObject({
    ...{ message: 'attempt to write a readonly database', errcode: 8 },
  });
  await database.remove();
});
