import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../test/fake-service.ts';
import {
  type Handler,
  handleNormally,
  type LinkingService,
  responseLost,
  startLinkingService,
} from '../test/linking-service.ts';
import { applicationSecret, code, credential, grantId } from '../test/samples.ts';
import { CodeAlreadyUsedError, CodeExpiredError, Latchkey, TimeoutError } from './index.ts';

let service: LinkingService;
let latchkey: Latchkey;

beforeAll(async () => {
  service = await startLinkingService();
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0 });
});
beforeEach(() => service.reset());
afterAll(() => service.close());

const CONVERT = 'grants.convert';

/** A response that waits until it is released. */
function held(handler: Handler = handleNormally) {
  const asked = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  let release = () => {};
  const hold: Handler = (act) => {
    const reply = handler(act);
    return (response, request) => {
      response.on('close', hungUp.resolve);
      release = () => reply(response, request);
      asked.resolve();
    };
  };
  return { hold, asked: asked.promise, hungUp: hungUp.promise, release: () => release() };
}

describe('concurrent calls with the same code', () => {
  it('share one request, and each gets its own copy of the grant', async () => {
    const grants = await Promise.all(Array.from({ length: 20 }, () => latchkey.convert(code)));
    expect(service.calls()).toEqual([CONVERT]);
    expect(new Set(grants).size).toBe(20);
    for (const grant of grants) {
      expect(grant).toEqual(grants[0]);
      expect(grant.request_id).toBe('request-1');
    }

    const [first, second] = grants as [object, object];
    Reflect.deleteProperty(first, 'grant_secret');
    expect(second).toHaveProperty('grant_secret', service.liveSecret());
  });

  it('share an error, and each gets its own copy', async () => {
    service.handlers = [() => refusal('code_expired', {}, { 'retry-after': '7' })];
    const calls = [latchkey.convert(code), latchkey.convert(code), latchkey.convert(code)];
    const errors = (await Promise.allSettled(calls)).map(
      (outcome) => outcome.status === 'rejected' && outcome.reason,
    );
    expect(service.calls()).toEqual([CONVERT]);
    expect(new Set(errors).size).toBe(3);
    for (const error of errors) {
      expect(error).toBeInstanceOf(CodeExpiredError);
      expect(error).toEqual(errors[0]);
    }
  });

  it('share the cause of a lost connection', async () => {
    service.handlers = [responseLost.cut];
    const calls = [latchkey.convert(code), latchkey.convert(code)];
    const [one, two] = await Promise.all(calls.map((call) => call.catch((error) => error)));
    expect(two).not.toBe(one);
    expect(two).toMatchObject({ name: 'ConnectionError', maybe_sent: true, cause: one.cause });
    expect(Object.keys(two)).not.toContain('cause');
  });

  it('share one recovery', async () => {
    service.handlers = [responseLost.cut];
    const calls = Array.from({ length: 5 }, () =>
      latchkey.convert(code, { recoverLostAnswer: true }),
    );
    for (const grant of await Promise.all(calls)) {
      expect(grant.grant_secret).toBe(service.liveSecret());
    }
    expect(service.calls()).toEqual([CONVERT, CONVERT, 'grants.recover']);
  });

  it('join a recovery in progress', async () => {
    const { hold, asked, release } = held();
    service.handlers = [responseLost.cut, hold];
    const early = latchkey.convert(code, { recoverLostAnswer: true });
    await asked;
    const late = latchkey.convert(code, { recoverLostAnswer: true });
    release();
    expect(await late).toEqual(await early);
    expect((await late).grant_secret).toBe(service.liveSecret());
  });
});

describe('different calls', () => {
  it.each([
    ['codes', () => latchkey.convert(credential('code', 9))],
    ['options', () => latchkey.convert(code, { recoverLostAnswer: true })],
    ['verifiers', () => latchkey.convert(code, { codeVerifier: 'another' })],
    ['redirect URIs', () => latchkey.convert(code, { redirectUri: 'https://acme.example/' })],
    ['clients', () => new Latchkey({ baseUrl: service.url, applicationSecret }).convert(code)],
  ])('share nothing: different %s', async (_, other) => {
    const outcomes = await Promise.allSettled([latchkey.convert(code), other()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });
});

describe('after the outcome', () => {
  it('the next call asks the service', async () => {
    await latchkey.convert(code);
    await expect(latchkey.convert(code)).rejects.toThrow(CodeAlreadyUsedError);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });

  it('only the callers hold the grant', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    let isCollected = false;
    const registry = new FinalizationRegistry(() => {
      isCollected = true;
    });
    const refer = async () => registry.register(await latchkey.convert(code), undefined);
    await refer();
    await expect
      .poll(() => {
        collectGarbage();
        return isCollected;
      })
      .toBe(true);
  });

  it('the next call asks the service, after an error too', async () => {
    service.handlers = [() => refusal('store_unavailable')];
    const again = latchkey.convert(code).catch(() => latchkey.convert(code));
    expect(await again).toHaveProperty('grant_id', grantId);
  });
});

describe('a caller that leaves', () => {
  it('by its signal leaves the others their grant from the same request', async () => {
    const controller = new AbortController();
    const { hold, asked, release } = held();
    service.handlers = [hold];
    const leaving = latchkey.convert(code, { signal: controller.signal });
    const staying = latchkey.convert(code);
    await asked;
    controller.abort('gone');
    await expect(leaving).rejects.toBe('gone');
    release();
    expect(await staying).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('by its timeout leaves the others their grant from the same request', async () => {
    const { hold, asked, release } = held();
    service.handlers = [hold];
    const staying = latchkey.convert(code);
    // It may fail before the request has arrived.
    const left = latchkey.convert(code, { timeoutMs: 50 }).catch((reason) => reason);
    await asked;
    const error = await left;
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.message).toContain('within 50 ms');
    release();
    expect(await staying).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('as the last one aborts the request', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const { hold, asked, hungUp } = held();
    service.handlers = [hold];
    const first = latchkey.convert(code, { signal: one.signal });
    const second = latchkey.convert(code, { signal: two.signal });
    await asked;
    one.abort(1);
    two.abort(2);
    // It must not join the call that was just aborted.
    const third = latchkey.convert(code).catch((error) => error);
    await expect(first).rejects.toBe(1);
    await expect(second).rejects.toBe(2);
    await hungUp;
    expect(await third).toBeInstanceOf(CodeAlreadyUsedError);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });

  it('before the request is sent prevents it', async () => {
    let requests = 0;
    const counting = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      fetch: () => {
        requests += 1;
        return Promise.reject(new TypeError('No request may be sent.'));
      },
    });
    const controller = new AbortController();
    const call = counting.convert(code, { signal: controller.signal });
    controller.abort('gone');
    await expect(call).rejects.toBe('gone');
    await new Promise(setImmediate);
    expect(requests).toBe(0);
  });

  it('by its timeout during a recovery gets the error of the lost response', async () => {
    service.handlers = [responseLost.cut, responseLost['never given']];
    const controller = new AbortController();
    const { signal } = controller;
    const patient = latchkey.convert(code, { recoverLostAnswer: true, signal });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 3_000 });
    await expect(hasty).rejects.toMatchObject({ name: 'ConnectionError' });
    controller.abort('gone');
    await expect(patient).rejects.toBe('gone');
  });

  it('as the last one, just as the response is lost, prevents the recovery', async () => {
    const controller = new AbortController();
    let requests = 0;
    const cut = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      fetch: () => {
        requests += 1;
        controller.abort('gone');
        return Promise.reject(new TypeError('The connection broke.'));
      },
    });
    const { signal } = controller;
    const call = cut.convert(code, { recoverLostAnswer: true, signal });
    await expect(call).rejects.toBe('gone');
    await new Promise(setImmediate);
    expect(requests).toBe(1);
  });
});

describe('a missing response counts as lost', () => {
  it('only when no caller has time left', async () => {
    const { hold, asked, release } = held();
    service.handlers = [hold];
    const patient = latchkey.convert(code, { recoverLostAnswer: true });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 30 });
    const left = hasty.catch((reason) => reason);
    await asked;
    // A second request now would lead to a recovery, which would replace the other caller's secret.
    expect(await left).toBeInstanceOf(TimeoutError);
    release();
    expect(await patient).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('as soon as the callers with more time have left', async () => {
    const controller = new AbortController();
    service.handlers = [responseLost['never given']];
    const { signal } = controller;
    const patient = latchkey.convert(code, { recoverLostAnswer: true, signal });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 3_000 });
    setTimeout(() => controller.abort('gone'), 3_100);
    await expect(patient).rejects.toBe('gone');
    expect(await hasty).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT, CONVERT, 'grants.recover']);
  });
});
