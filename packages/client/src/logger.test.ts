import { afterAll, beforeAll, expect, it } from 'vitest';
import { refusal, result } from '../test/fake-service.ts';
import { answerLost, type LinkingService, startLinkingService } from '../test/linking-service.ts';
import { account, applicationSecret, code, grantSecret } from '../test/samples.ts';
import { Latchkey, type Logger } from './index.ts';

let service: LinkingService;

beforeAll(async () => {
  service = await startLinkingService();
});
afterAll(() => service.close());

/** A logger that keeps what it is told, with the times written alike. */
function keeping() {
  const lines: unknown[] = [];
  const keep =
    (level: string): Logger['debug'] =>
    (message, { ms, retryInMs, ...details }) => {
      const text = message.replace(/\d+ ms/, 'N ms');
      lines.push([level, text, details]);
    };
  return { lines, debug: keep('debug'), warn: keep('warn') };
}

const clientWith = (logger: Logger) =>
  new Latchkey({ baseUrl: service.url, applicationSecret, logger });

it('is told of each request, each wait and each lost answer', async () => {
  service.reset();
  service.fates = [
    () => refusal('store_unavailable', {}, { 'retry-after': '0' }),
    answerLost['the HTML 502 of a proxy'],
  ];
  const logger = keeping();
  await clientWith(logger).convert(code, { recoverLostAnswer: true });

  const convert = { operation: 'grants.convert' };
  const answered = { requestId: 'request-1' };
  const unavailable = {
    ...answered,
    error: 'UnavailableError',
    errorCode: 'store_unavailable',
    status: 503,
  };
  const unexpected = { error: 'UnexpectedResponseError', status: 502 };
  const used = {
    ...answered,
    error: 'CodeAlreadyUsedError',
    errorCode: 'code_already_used',
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
      'Latchkey grants.convert: UnavailableError, trying again in N ms',
      { ...convert, ...unavailable },
    ],
    [
      'debug',
      'Latchkey grants.convert: UnexpectedResponseError after N ms',
      { ...convert, ...unexpected },
    ],
    [
      'warn',
      'Latchkey grants.convert: UnexpectedResponseError, recovering the answer if it got lost',
      { ...convert, ...unexpected },
    ],
    ['debug', 'Latchkey grants.convert: CodeAlreadyUsedError after N ms', { ...convert, ...used }],
    [
      'debug',
      'Latchkey grants.recover: answered after N ms',
      { operation: 'grants.recover', ...answered },
    ],
  ]);
});

it('is told of an abort', async () => {
  service.reset();
  const controller = new AbortController();
  service.fates = [() => () => controller.abort()];
  const logger = keeping();
  const call = clientWith(logger).convert(code, { signal: controller.signal });
  await expect(call).rejects.toThrow();
  expect(logger.lines).toStrictEqual([
    ['debug', 'Latchkey grants.convert: aborted after N ms', { operation: 'grants.convert' }],
  ]);
});

it('harms no call by what it throws', async () => {
  service.reset();
  const broken = () => {
    throw new Error('The disk is full.');
  };
  const latchkey = clientWith({ debug: broken, warn: broken });
  service.fates = [answerLost.cut];
  const grant = await latchkey.convert(code, { recoverLostAnswer: true });
  expect(grant.grant_secret).toBe(service.liveSecret());
});

it('keeps its this, as the loggers of classes need', async () => {
  service.fates = [() => result(account)];
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
