import { expect, test } from 'vitest';
import { checkClock, inspectMongodb } from '../src/inspect.ts';
import { failure } from './scripted-server.ts';
import { scriptedServer } from './scripted-store.ts';

test.each([
  [1_000, 'ok', 'agree'],
  [2_000, 'ok', 'agree'],
  [3_400, 'ok', 'agree'],
  [3_900, 'ok', 'agree'],
  [8_000, 'problem', 'is 5 s behind'],
  [-9_000, 'problem', 'is 10 s ahead of'],
])('a server at %d, asked from 1,000 to 3,000: %s', (server, level, words) => {
  expect(checkClock(new Date(server), 1_000, 3_000)).toMatchObject({
    level,
    found: expect.stringContaining(words),
  });
});

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
