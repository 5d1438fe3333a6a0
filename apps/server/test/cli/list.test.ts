import { expect, onTestFinished, test } from 'vitest';
import { runInProcess, startCommand } from '../http/command-process.ts';
import { describeOnAnyStore, sqliteDatabase } from '../http/databases.ts';
import { manyGrants } from './many-grants.ts';

describeOnAnyStore('a list of several pages', (fresh) => {
  test('is one object, or a table of the same items', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const { application } = await manyGrants(database.url, 260);
    const words = ['grant', 'list', '--app', application.id];
    const list = (more: string[], columns?: number) =>
      runInProcess(
        [...words, ...more],
        { DATABASE_URL: database.url },
        { ...(columns && { columns }) },
      );
    const [json, piped, shown] = await Promise.all([list(['--json']), list([]), list([], 80)]);

    const { data, ...rest } = JSON.parse(json.stdout);
    expect(rest).toEqual({ object: 'list', next_cursor: null });
    const ids = data.map(({ grant_id }: { grant_id: string }) => grant_id);
    expect(new Set(ids).size).toBe(260);
    const firstOf = (lines: string[], separator: RegExp) =>
      lines.map((line) => line.split(separator)[0]);
    expect(firstOf(piped.stdout.trimEnd().split('\n'), /\t/)).toEqual(ids);
    const [heading, ...rows] = shown.stdout.trimEnd().split('\n');
    expect(heading).toMatch(/^GRANT +ACCOUNT +SCOPE +STATE +AGE/);
    expect(firstOf(rows, / /)).toEqual(ids);
    for (const row of rows) expect(row.length).toBeLessThanOrEqual(80);
  });
});

test('says on a terminal that a list is empty', async () => {
  const database = await sqliteDatabase();
  onTestFinished(() => database.remove());
  const settings = { DATABASE_URL: database.url };
  await runInProcess(['account', 'put', '--username', 'ada'], settings);
  const [shown, piped] = [
    await runInProcess(['app', 'list'], settings, { columns: 80 }),
    await runInProcess(['app', 'list'], settings),
  ];
  expect(shown).toEqual({ code: 0, stdout: '', stderr: 'There are none.\n' });
  expect(piped).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('a reader that has enough ends a list, and a full disk fails it, without a stack trace', async () => {
  const database = await sqliteDatabase();
  onTestFinished(() => database.remove());
  // More than a pipe holds.
  const { application } = await manyGrants(database.url, 2_000);
  const list = (shell: string) =>
    startCommand(
      ['grant', 'list', '--json', '--app', application.id],
      { DATABASE_URL: database.url },
      { within: ['bash', '-c', shell, 'bash'] },
    ).ended;
  const cut = await list('"$@" | head -c 1000; echo; echo "exit $PIPESTATUS"');
  expect(cut.stdout.split('\n').slice(1)).toEqual(['exit 0', '']);
  expect(cut.stderr).toBe('');
  const full = await list('"$@" > /dev/full; echo "exit $?"');
  expect(full.stdout).toBe('exit 1\n');
  expect(full.stderr).toMatch(/^The output could not be written: ENOSPC.*\n$/);
});
