import { userInfo } from 'node:os';
import { expect, onTestFinished, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { readAuditLines } from '../../src/restore/read-audit-lines.ts';
import { runInProcess } from '../http/command-process.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { startTestServer } from '../http/running-server.ts';
import { manyGrants } from './many-grants.ts';

const USER = userInfo().username;

describeOnAnyStore('what a command changes', (fresh) => {
  test('is in the log of the service, with who ran it and when', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const settings = { DATABASE_URL: database.url, SUDO_USER: 'ada' };
    const latchkey = async (...words: string[]) => {
      const { code, stdout, stderr } = await runInProcess([...words, '--json'], settings);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      return JSON.parse(stdout);
    };
    const began = Date.now();
    const app = await latchkey('app', 'create', 'Acme');
    await latchkey('app', 'disable', app.id);
    await latchkey('app', 'list');
    await latchkey('app', 'get', app.id);
    const account = await latchkey('account', 'put', '--username', 'ada');
    const ended = Date.now();

    const server = await startTestServer(database.url, { LOG_LEVEL: 'error' });
    onTestFinished(() => server.close());
    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    onTestFinished(() => store.close());
    await expect.poll(() => store.listCommandChanges(9)).toEqual([]);
    const lines = server.lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');
    const members = {
      ...{ by: 'command_line', os_user: `${USER} (sudo: ada)`, result: 'done', reason: null },
      ...{ request_id: expect.any(String), address: null },
    };
    expect(lines).toMatchObject([
      { action: 'admin.applications.create', application_id: app.id, ...members },
      { action: 'admin.applications.disable', application_id: app.id, ...members },
      { action: 'admin.accounts.put', account_id: account.id, ...members },
    ]);
    for (const { at, time } of lines) {
      expect(Date.parse(at)).toBeGreaterThanOrEqual(began);
      expect(Date.parse(at)).toBeLessThanOrEqual(ended);
      expect(time).toBeGreaterThanOrEqual(ended);
    }
  });

  test('is with who ran it in the history of a grant', async () => {
    const database = await fresh();
    onTestFinished(() => database.remove());
    const settings = { DATABASE_URL: database.url };
    const { application } = await manyGrants(database.url, 4);
    const latchkey = (...words: string[]) => runInProcess(words, settings);
    const { stdout: list } = await latchkey('grant', 'list', '--app', application.id, '--json');
    const active = JSON.parse(list).data.find(({ revoked }: { revoked: boolean }) => !revoked);
    await latchkey('grant', 'revoke', '--app', application.id, '--yes');
    const { stdout: history } = await latchkey('grant', 'history', active.grant_id);
    expect(history).toMatch(
      new RegExp(`revoked: done \\(host\\) {2}on the command line, by ${USER} {2}`),
    );
    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    onTestFinished(() => store.close());
    // One for the mark, however many grants it ends.
    const ids = { application_id: application.id, mark_number: expect.any(String) };
    expect(await store.listCommandChanges(9)).toMatchObject([
      { operation: 'admin.grants.revokeAll', ids },
    ]);
  });
});

test('a line of a change has the time of the change, not that of the log', async () => {
  const line = {
    ...{ level: 30, time: '2026-11-21T02:15:40.000Z', msg: 'audit', result: 'done' },
    ...{ action: 'admin.applications.disable', by: 'command_line', os_user: 'ada' },
    ...{ request_id: 'a-request', at: '2026-11-21T02:15:30.123Z' },
  };
  const log = (async function* () {
    yield Buffer.from(`${JSON.stringify(line)}\n`);
  })();
  const found = [];
  for await (const entry of readAuditLines(log, { lines: 0 })) found.push(entry);
  expect(found).toMatchObject([{ at: Date.parse(line.at), os_user: 'ada' }]);
});
