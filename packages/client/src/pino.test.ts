import { pino } from 'pino';
import { beforeAll, expect, it, vi } from 'vitest';
import { refusal, result } from '../test/fake-service.ts';
import { account, applicationSecret, grantSecret } from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import { Latchkey, type Logger } from './index.ts';

const service = useFakeService();
let accountWith: (logger: Logger) => Promise<unknown>;

beforeAll(() => {
  accountWith = (logger) => {
    const unavailable = refusal('store_unavailable', {}, { 'retry-after': '0' });
    service.reply = (response, request) => {
      service.reply = result(account);
      unavailable(response, request);
    };
    return new Latchkey({ baseUrl: service.url, applicationSecret, logger }).account(grantSecret);
  };
});

it('pino is a logger as it is', async () => {
  const lines: string[] = [];
  await accountWith(pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) }));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    {
      level: pino.levels.values.debug,
      msg: expect.stringMatching(/^Latchkey account\.get: UnavailableError after \d+ ms$/),
      operation: 'account.get',
      error_code: 'store_unavailable',
      status: 503,
    },
    {
      level: pino.levels.values.warn,
      msg: 'Latchkey account.get: UnavailableError, retrying in 0 ms',
      retry_in_ms: 0,
    },
    {
      level: pino.levels.values.debug,
      msg: expect.stringMatching(/^Latchkey account\.get: succeeded after \d+ ms$/),
      ms: expect.any(Number),
      request_id: 'request-1',
    },
  ]);
});

it('and so is console', async () => {
  const debug = vi.spyOn(console, 'debug').mockReturnValue();
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  await accountWith(console);
  expect(debug).toHaveBeenCalledTimes(2);
  expect(warn.mock.calls).toEqual([
    [
      expect.objectContaining({ operation: 'account.get' }),
      'Latchkey account.get: UnavailableError, retrying in 0 ms',
    ],
  ]);
  vi.restoreAllMocks();
});
