import { expect, test } from 'vitest';
import { loadSettings } from '../settings.ts';
import { checkSettings } from './check-settings.ts';

const DATABASE_URL = 'file:./a.db';
const EVENTS_KEY = 'an-events-key-of-32-characters-or-more';

const levels = (given: NodeJS.ProcessEnv) => {
  const environment = { DATABASE_URL, ...given };
  return [...checkSettings(loadSettings(environment), environment)]
    .filter(({ level }) => level !== 'ok')
    .map(({ check, level, found }) => `${level} ${check} ${found.split(/[ :]/)[0]}`);
};

test.each([
  [{}, []],
  [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://a.example', TRUST_PROXY: 'true' }, []],
  [{ METRICS: 'on' }, []],
  [
    { METRICS: 'on', HOST: '0.0.0.0', PUBLIC_URL: 'http://localhost:3000' },
    ['warning settings METRICS'],
  ],
  [{ HOST: '0.0.0.0' }, ['warning settings PUBLIC_URL']],
  [{ PUBLIC_URL: 'https://a.example' }, ['warning settings PUBLIC_URL']],
  [{ PUBLIC_URL: 'http://a.example' }, ['problem tls PUBLIC_URL']],
  [{ PUBLIC_URL: 'http://[::1]:3000' }, []],
  [{ RATE_LIMIT: 'off' }, ['warning settings RATE_LIMIT']],
  [{ EVENTS_KEY }, ['problem settings EVENTS_KEY']],
  [{ EVENTS_KEY, ADMIN_SECRET: EVENTS_KEY }, []],
  [{ LOG_LEVEL: 'silent' }, ['warning settings LOG_LEVEL']],
  [{ TRUST_PROXI: 'true' }, ['warning settings TRUST_PROXI']],
  [{ DATABASE_URL: undefined }, ['warning settings DATABASE_URL']],
])('%j: %j', (environment, expected) => {
  expect(levels(environment)).toEqual(expected);
});
