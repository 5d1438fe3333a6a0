import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusal, result } from '../test/fake-service.ts';
import { type LinkingService, responseLost, startLinkingService } from '../test/linking-service.ts';
import { account, applicationSecret, code, grantSecret } from '../test/samples.ts';
import { Latchkey, type Logger } from './index.ts';

let service: LinkingService;

beforeAll(async () => {
  service = await startLinkingService();
});
afterAll(() => service.close());

/** A logger that records its lines, with all times replaced by N. */
function recording() {
  const lines: unknown[] = [];
  const record =
    (level: string): Logger['debug'] =>
    ({ ms, retry_in_ms, ...details }, message) => {
      const text = message.replace(/\d+ ms/, 'N ms');
      lines.push([level, text, details]);
    };
  return { lines, debug: record('debug'), warn: record('warn') };
}

const clientWith = (logger: Logger) =>
  new Latchkey({ baseUrl: service.url, applicationSecret, logger });

it('gets a line for each request, each retry and each lost response', async () => {
  service.reset();
  service.handlers = [
    () => refusal('store_unavailable', {}, { 'retry-after': '0' }),
    responseLost['the HTML 502 of a proxy'],
  ];
  const logger = recording();
  await clientWith(logger).convert(code, { recoverLostAnswer: true });

  const convert = { operation: 'grants.convert' };
  const answered = { request_id: 'request-1' };
  const unavailable = {
    ...answered,
    error: 'UnavailableError',
    error_code: 'store_unavailable',
    status: 503,
  };
  const unexpected = { error: 'UnexpectedResponseError', status: 502 };
  const used = {
    ...answered,
    error: 'CodeAlreadyUsedError',
    error_code: 'code_already_used',
    status: 400,
  };
  expect(logger.lines).toStrictEqual([
    [
      'debug',
      'Latchkey grants.convert: UnavailableError after N ms',
      { ...convert, ...unavailable },
    ],
    [
      'warn',
      'Latchkey grants.convert: UnavailableError, retrying in N ms',
      { ...convert, ...unavailable },
    ],
    [
      'debug',
      'Latchkey grants.convert: UnexpectedResponseError after N ms',
      { ...convert, ...unexpected },
    ],
    [
      'warn',
      'Latchkey grants.convert: UnexpectedResponseError, recovering the grant if the response was lost',
      { ...convert, ...unexpected },
    ],
    ['debug', 'Latchkey grants.convert: CodeAlreadyUsedError after N ms', { ...convert, ...used }],
    [
      'debug',
      'Latchkey grants.recover: succeeded after N ms',
      { operation: 'grants.recover', ...answered },
    ],
  ]);
});

it('gets a line for an abort', async () => {
  service.reset();
  const controller = new AbortController();
  service.handlers = [() => () => controller.abort()];
  const logger = recording();
  const call = clientWith(logger).convert(code, { signal: controller.signal });
  await expect(call).rejects.toThrow();
  expect(logger.lines).toStrictEqual([
    ['debug', 'Latchkey grants.convert: aborted after N ms', { operation: 'grants.convert' }],
  ]);
});

it('does not fail a call by throwing', async () => {
  service.reset();
  const broken = () => {
    throw new Error('The disk is full.');
  };
  const latchkey = clientWith({ debug: broken, warn: broken });
  service.handlers = [responseLost.cut];
  const grant = await latchkey.convert(code, { recoverLostAnswer: true });
  expect(grant.grant_secret).toBe(service.liveSecret());
});

it('is called with its own this, which loggers of classes need', async () => {
  service.handlers = [() => result(account)];
  class Counter {
    count = 0;
    debug() {
      this.count += 1;
    }
    warn() {}
  }
  const counter = new Counter();
  await clientWith(counter).account(grantSecret);
  expect(counter.count).toBe(1);
});
