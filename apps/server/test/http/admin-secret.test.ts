import { redactorFor } from '@latchkey/rules/log/redactor';
import { expect, test } from 'vitest';
import { loadSettings } from '../../src/settings.ts';
import { invoke, type Json, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { ADMIN_SECRET, operator, useServer } from './running-server.ts';

const PREVIOUS = 'the-secret-of-the-operator-until-yesterday';

describeOnAnyStore('ADMIN_SECRET_PREVIOUS', (fresh) => {
  const server = useServer(fresh, { ADMIN_SECRET_PREVIOUS: PREVIOUS });

  test.each(wires)(
    'is accepted beside ADMIN_SECRET, and the log says which, over %s',
    async (wire) => {
      server.lines.length = 0;
      for (const authorization of [operator, `Bearer ${PREVIOUS}`, `Bearer ${PREVIOUS}x`]) {
        await invoke(server, wire, 'admin.applications.create', { name: 'Acme' }, authorization);
        await invoke(server, wire, 'admin.applications.list', {}, authorization);
      }
      const told = server.lines
        .map((line): Json => JSON.parse(line))
        .map(
          ({ msg, action, status, admin_secret = '-' }) =>
            `${action ?? status} ${msg} ${admin_secret}`,
        )
        .filter((line) => / (?:audit|request) /.test(line));
      expect(told).toEqual([
        'admin.applications.create audit current',
        '200 request current',
        '200 request current',
        'admin.applications.create audit previous',
        '200 request previous',
        '200 request previous',
        'admin.applications.create audit -',
        '401 request -',
        'admin.applications.list audit -',
        '401 request -',
      ]);
    },
  );
});

const EVENTS_KEY = 'events-key-of-thirty-two-characters-or-more';

test('both secrets of the operator, and both keys of events, are redacted', () => {
  const { secrets } = loadSettings({
    ADMIN_SECRET,
    ADMIN_SECRET_PREVIOUS: PREVIOUS,
    EVENTS_KEY,
    EVENTS_KEY_PREVIOUS: `${EVENTS_KEY}-before`,
  });
  const logged = `${ADMIN_SECRET} ${PREVIOUS} ${EVENTS_KEY} ${EVENTS_KEY}-before`;
  expect(redactorFor(secrets)(logged)).not.toMatch(/operator|events-key|before/);
});

test('the address of a database is redacted as a whole, however short its password is', () => {
  const DATABASE_URL = 'mongodb://ada:p%40ss/?@db.example/latchkey?authSource=admin';
  const redact = redactorFor(loadSettings({ DATABASE_URL }).secrets);
  expect(redact(`no server at ${DATABASE_URL}: passed`)).toBe('no server at [redacted]: passed');
  expect(redact('mongodb://ada:p%40ss/?@db.example')).toBe('[redacted]db.example');
  const open = 'mongodb://db.example/latchkey';
  expect(redactorFor(loadSettings({ DATABASE_URL: open }).secrets)(open)).toBe(open);
});
