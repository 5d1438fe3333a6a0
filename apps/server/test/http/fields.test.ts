import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { invoke, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

describeOnAnyStore('a text', (fresh) => {
  const server = useServer(fresh);

  test.each([
    ['200 characters of two UTF-16 units', '💐'.repeat(200)],
    ['spaces around it', '  a  '],
    ['database operators', '$set.a.$ne'],
    ['the name of a prototype', '__proto__'],
    ['quotes and markup', `"'\\<b>&amp;--;/*`],
    ['an emoji of several characters', '👩🏽\u200d🚀'],
  ])('with %s is returned as it was sent', async (_, text) => {
    const account_id = randomUUID();
    const sent = { username: text, display_name: text, twitter: text };
    for (const wire of wires) {
      const input = { account_id, ...sent };
      const put = await invoke(server, wire, 'admin.accounts.put', input, operator);
      expect(put.body).toMatchObject(sent);
      const got = await invoke(server, wire, 'admin.accounts.get', { account_id }, operator);
      expect(got.body).toStrictEqual(put.body);
    }
    const { id } = await succeed(server, 'admin.applications.create', { name: text }, operator);
    const found = await succeed(server, 'admin.applications.get', { application_id: id }, operator);
    expect(found.name).toBe(text);
  });

  test('is put into NFC, and found in either form', async () => {
    const input = { account_id: randomUUID(), username: 'Ame\u0301lie' };
    const put = await succeed(server, 'admin.accounts.put', input, operator);
    expect(put.username).toBe('Am\u00e9lie');
    for (const username of [input.username, put.username]) {
      const { data } = await succeed(server, 'admin.accounts.list', { username }, operator);
      expect(data).toContainEqual(put);
    }
  });

  const flag = '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}';
  test.each([
    ['an England flag', `Ada ${flag}`, `Ada ${flag}`],
    ['a family', '👨\u200d👩\u200d👧', '👨\u200d👩\u200d👧'],
    ['Burmese', 'မြန်မာ', 'မြန်မာ'],
    ['Devanagari', 'क्\u200dष', 'क्\u200dष'],
    ['a right-to-left mark', 'דנה\u200f', 'דנה'],
    ['line breaks', 'a\nb\u2028c\u2029', 'abc'],
    ['control characters', 'a\0b\u0085', 'ab'],
    ['marks that pile up', `x${'\u0302'.repeat(50)}`, `x${'\u0302'.repeat(4)}`],
  ])('of a user keeps of %s what shows, and is found by either', async (_, sent, kept) => {
    for (const wire of wires) {
      const input = {
        account_id: randomUUID(),
        ...{ username: sent, display_name: sent, twitter: sent },
      };
      const put = await invoke(server, wire, 'admin.accounts.put', input, operator);
      const names = { username: kept, display_name: kept, twitter: kept };
      expect([put.status, put.body]).toEqual([200, expect.objectContaining(names)]);
      for (const username of [sent, kept]) {
        const found = await invoke(server, wire, 'admin.accounts.list', { username }, operator);
        expect(found.body.data).toContainEqual(put.body);
      }
    }
  });

  test.each([
    ['nothing', ''],
    ['white space alone', ' \u00a0'],
    ['hidden characters alone', '\u200f\u3164\u2800'],
  ])('of a user that is %s counts as left out, but for the username', async (_, text) => {
    for (const wire of wires) {
      const account_id = randomUUID();
      const input = { account_id, username: 'ada', display_name: text, twitter: text };
      const put = await invoke(server, wire, 'admin.accounts.put', input, operator);
      expect(put.body).toMatchObject({ display_name: 'ada', twitter: null });
      const unnamed = { ...input, username: text };
      const refused = await invoke(server, wire, 'admin.accounts.put', unnamed, operator);
      expect([refused.status, refused.body.issues?.[0].path]).toEqual([400, ['username']]);
      const list = await invoke(server, wire, 'admin.accounts.list', { username: text }, operator);
      expect([list.status, list.body.data]).toEqual([200, []]);
    }
  });

  test('of a user has at most 200 characters', async () => {
    for (const wire of wires) {
      for (const member of ['username', 'display_name', 'twitter']) {
        const input = { account_id: randomUUID(), username: 'ada', [member]: 'x'.repeat(201) };
        const { status, body } = await invoke(server, wire, 'admin.accounts.put', input, operator);
        expect([status, body.issues?.[0].path]).toEqual([400, [member]]);
      }
    }
  });

  test.each([
    ['nothing', ''],
    ['201 characters', 'x'.repeat(201)],
    ['a line feed', 'a\nb'],
    ['a NUL', 'a\0'],
    ['a control character of C1', 'a\u0085'],
    ['a lone surrogate', 'a\ud83d'],
    ['Unicode line separators', 'a\u2028b\u2029c'],
    ['bidirectional marks', '\u202eabc\u200f'],
    ['white space alone', ' \u00a0'],
    ['the tags of a flag', flag],
    ['marks that pile up', `x${'\u0302'.repeat(5)}`],
  ])('of an operator with %s is refused', async (_, name) => {
    for (const wire of wires) {
      const made = await invoke(server, wire, 'admin.applications.create', { name }, operator);
      expect([made.status, made.body.issues?.[0].path]).toEqual([400, ['name']]);
    }
  });

  test.each([
    '00000000-0000-0000-0000-000000000000',
    'FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF',
    'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11',
  ])('that is the UUID %s is accepted as an id and returned in lower case', async (account_id) => {
    for (const wire of wires) {
      const input = { account_id, username: 'ada' };
      const { body } = await invoke(server, wire, 'admin.accounts.put', input, operator);
      expect(body.id).toBe(account_id.toLowerCase());
    }
  });
});

describeOnAnyStore('a scope', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  beforeAll(async () => {
    linked = await linkedApplication(server);
  });
  const issue = (scope: unknown) => {
    const { application_id, account_id } = linked;
    const input = { application_id, account_id, scope };
    return invoke(server, 'REST', 'admin.codes.issue', input, operator);
  };
  const tokens = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`).join(' ');

  test.each([
    'a',
    "!#$%&'()*+,-./:;<=>?@[]^_`{|}~",
    '$ne __proto__ a.b',
    tokens(32),
    'x'.repeat(1000),
  ])('%s is kept unchanged', async (scope) => {
    const { body } = await issue(scope);
    expect(body.scope).toBe(scope);
    expect((await linked.convert(body.code)).scope).toBe(scope);
  });

  test.each([
    '',
    ' a',
    'a ',
    'a  b',
    'a\tb',
    'a a',
    'a"b',
    'a\\b',
    'ä',
    tokens(33),
    'x'.repeat(1001),
    null,
    ['a'],
  ])('%j is refused', async (scope) => {
    const { status, body } = await issue(scope);
    expect([status, body.error_code, body.issues?.[0].path]).toEqual([
      400,
      'parameter_invalid',
      ['scope'],
    ]);
  });
});
