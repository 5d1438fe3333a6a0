import { expect, test } from 'vitest';
import { redactorFor } from '../../src/log/redactor.ts';
import { secretsOf } from '../../src/settings.ts';
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
  const redact = redactorFor(
    secretsOf({
      adminSecret: ADMIN_SECRET,
      adminSecretPrevious: PREVIOUS,
      eventsKey: EVENTS_KEY,
      eventsKeyPrevious: `${EVENTS_KEY}-before`,
      databaseUrl: '',
    }),
  );
  const logged = `${ADMIN_SECRET} ${PREVIOUS} ${EVENTS_KEY} ${EVENTS_KEY}-before`;
  expect(redact(logged)).not.toMatch(/operator|events-key|before/);
});

test('the address of a database is redacted as a whole, however short its password is', () => {
  const secrets = { adminSecret: null, adminSecretPrevious: null };
  const keys = { eventsKey: null, eventsKeyPrevious: null };
  const databaseUrl = 'mongodb://ada:p%40ss/?@db.example/latchkey?authSource=admin';
  const redact = redactorFor(secretsOf({ ...secrets, ...keys, databaseUrl }));
  expect(redact(`no server at ${databaseUrl}: passed`)).toBe('no server at [redacted]: passed');
  expect(redact('mongodb://ada:p%40ss/?@db.example')).toBe('[redacted]db.example');
  const open = redactorFor(
    secretsOf({ ...secrets, ...keys, databaseUrl: 'mongodb://db.example/latchkey' }),
  );
  expect(open('mongodb://db.example/latchkey')).toBe('mongodb://db.example/latchkey');
});
