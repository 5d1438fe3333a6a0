import { expect, test } from 'vitest';
import { inspectMongodb } from '../src/inspect.ts';
import { failure } from './scripted-server.ts';
import { scriptedServer } from './scripted-store.ts';

test.each([
  ['ada:secret@', 'saslStart', failure(18, 'AuthenticationFailed'), /the user or the password/],
  ['', 'find', failure(13, 'Unauthorized'), /the user may not use this database/],
  ['', 'listIndexes', failure(13, 'Unauthorized'), /the user may not use this database/],
])(
  'a wrong user is told so, and not that there is no database: %s%s',
  async (login, command, reply, saying) => {
    const server = await scriptedServer();
    server.script(command, reply);
    const findings = [];
    const url = `mongodb://${login}${server.address}/latchkey`;
    for await (const finding of inspectMongodb(url, Date.now, {})) findings.push(finding);
    expect(findings.filter(({ level }) => level === 'problem')).toEqual([
      expect.objectContaining({ check: 'store', found: expect.stringMatching(saying) }),
    ]);
  },
);

test('a sharded cluster is told to be untested', async () => {
  const server = await scriptedServer('mongos');
  const findings = [];
  for await (const finding of inspectMongodb(server.url, Date.now, {})) findings.push(finding);
  expect(findings.find(({ check }) => check === 'topology')).toMatchObject({
    level: 'warning',
    found: expect.stringContaining('never tested'),
  });
});
