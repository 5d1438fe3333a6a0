import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refusal } from '../test/fake-service.ts';
import {
  answerLost,
  arrives,
  type Fate,
  type LinkingService,
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

/** An answer that waits to be let go. */
function held(fate: Fate = arrives) {
  const asked = Promise.withResolvers<void>();
  const hungUp = Promise.withResolvers<void>();
  let letGo = () => {};
  const hold: Fate = (act) => {
    const reply = fate(act);
    return (response, request) => {
      response.on('close', hungUp.resolve);
      letGo = () => reply(response, request);
      asked.resolve();
    };
  };
  return { hold, asked: asked.promise, hungUp: hungUp.promise, letGo: () => letGo() };
}

describe('calls with one code at the same time', () => {
  it('share one request, and each gets the grant, in an object of its own', async () => {
    const grants = await Promise.all(Array.from({ length: 20 }, () => latchkey.convert(code)));
    expect(service.calls()).toEqual([CONVERT]);
    expect(new Set(grants).size).toBe(20);
    for (const grant of grants) {
      expect(grant).toEqual(grants[0]);
      expect(grant.requestId).toBe('request-1');
    }

    const [first, second] = grants as [object, object];
    Reflect.deleteProperty(first, 'grant_secret');
    expect(second).toHaveProperty('grant_secret', service.liveSecret());
  });

  it('share an error, and each gets an object of its own', async () => {
    service.fates = [() => refusal('code_expired', {}, { 'retry-after': '7' })];
    const calls = [latchkey.convert(code), latchkey.convert(code), latchkey.convert(code)];
    const errors = (await Promise.allSettled(calls)).map(
      (outcome) => outcome.status === 'rejected' && outcome.reason,
    );
    expect(service.calls()).toEqual([CONVERT]);
    expect(new Set(errors).size).toBe(3);
    for (const error of errors) {
      expect(error).toBeInstanceOf(CodeExpiredError);
      expect(error).toEqual(errors[0]);
      expect(error.stack).toBe(errors[0].stack);
    }
  });

  it('share the cause of a lost connection', async () => {
    service.fates = [answerLost.cut];
    const calls = [latchkey.convert(code), latchkey.convert(code)];
    const [one, two] = await Promise.all(calls.map((call) => call.catch((error) => error)));
    expect(two).not.toBe(one);
    expect(two).toMatchObject({ name: 'ConnectionError', maybeSent: true, cause: one.cause });
    expect(Object.keys(two)).not.toContain('cause');
  });

  it('share a recovery, which is made once', async () => {
    service.fates = [answerLost.cut];
    const calls = Array.from({ length: 5 }, () =>
      latchkey.convert(code, { recoverLostAnswer: true }),
    );
    for (const grant of await Promise.all(calls)) {
      expect(grant.grant_secret).toBe(service.liveSecret());
    }
    expect(service.calls()).toEqual([CONVERT, CONVERT, 'grants.recover']);
  });

  it('join a recovery that is under way', async () => {
    const { hold, asked, letGo } = held();
    service.fates = [answerLost.cut, hold];
    const early = latchkey.convert(code, { recoverLostAnswer: true });
    await asked;
    const late = latchkey.convert(code, { recoverLostAnswer: true });
    letGo();
    expect(await late).toEqual(await early);
    expect((await late).grant_secret).toBe(service.liveSecret());
  });
});

describe('calls that are not the same', () => {
  it.each([
    ['codes', () => latchkey.convert(credential('code', 9))],
    ['options', () => latchkey.convert(code, { recoverLostAnswer: true })],
    ['clients', () => new Latchkey({ baseUrl: service.url, applicationSecret }).convert(code)],
  ])('share nothing: other %s', async (_, other) => {
    const outcomes = await Promise.allSettled([latchkey.convert(code), other()]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });
});

describe('once the outcome is there', () => {
  it('it is forgotten: the next call asks the service', async () => {
    await latchkey.convert(code);
    await expect(latchkey.convert(code)).rejects.toThrow(CodeAlreadyUsedError);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });

  it('nothing holds the grant but its callers', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const refer = async () => new WeakRef(await latchkey.convert(code));
    const grant = await refer();
    // Not asked in between: to ask keeps it.
    for (let round = 0; round < 5; round++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      collectGarbage();
    }
    expect(grant.deref()).toBeUndefined();
  });

  it('so is an error', async () => {
    service.fates = [() => refusal('store_unavailable')];
    const again = latchkey.convert(code).catch(() => latchkey.convert(code));
    expect(await again).toHaveProperty('grant_id', grantId);
  });
});

describe('one of them leaves', () => {
  it('by its signal: the others get their grant from the same request', async () => {
    const controller = new AbortController();
    const { hold, asked, letGo } = held();
    service.fates = [hold];
    const leaving = latchkey.convert(code, { signal: controller.signal });
    const staying = latchkey.convert(code);
    await asked;
    controller.abort('gone');
    await expect(leaving).rejects.toBe('gone');
    letGo();
    expect(await staying).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('by its own timeout', async () => {
    const { hold, asked, letGo } = held();
    service.fates = [hold];
    const staying = latchkey.convert(code);
    const leaving = latchkey.convert(code, { timeoutMs: 50 });
    await asked;
    const error = await leaving.catch((reason) => reason);
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error.message).toContain('within 50 ms');
    letGo();
    expect(await staying).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('the last one: the request is aborted, and nobody hears of it any more', async () => {
    const [one, two] = [new AbortController(), new AbortController()];
    const { hold, asked, hungUp } = held();
    service.fates = [hold];
    const first = latchkey.convert(code, { signal: one.signal });
    const second = latchkey.convert(code, { signal: two.signal });
    await asked;
    one.abort(1);
    two.abort(2);
    // Not one that joins what was given up just now.
    const third = latchkey.convert(code).catch((error) => error);
    await expect(first).rejects.toBe(1);
    await expect(second).rejects.toBe(2);
    await hungUp;
    expect(await third).toBeInstanceOf(CodeAlreadyUsedError);
    expect(service.calls()).toEqual([CONVERT, CONVERT]);
  });

  it('before the request was sent: it is not', async () => {
    let requests = 0;
    const counting = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      fetch: () => {
        requests += 1;
        return Promise.reject(new TypeError('This must not be sent.'));
      },
    });
    const controller = new AbortController();
    const call = counting.convert(code, { signal: controller.signal });
    controller.abort('gone');
    await expect(call).rejects.toBe('gone');
    await new Promise(setImmediate);
    expect(requests).toBe(0);
  });

  it('by its timeout, while others wait for a recovery: with the error of the lost answer', async () => {
    service.fates = [answerLost.cut, answerLost['never given']];
    const controller = new AbortController();
    const { signal } = controller;
    const patient = latchkey.convert(code, { recoverLostAnswer: true, signal });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 500 });
    await expect(hasty).rejects.toMatchObject({ name: 'ConnectionError' });
    controller.abort('gone');
    await expect(patient).rejects.toBe('gone');
  });

  it('the last one, just as the answer gets lost: nobody asks for it again', async () => {
    const controller = new AbortController();
    let requests = 0;
    const cut = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      fetch: () => {
        requests += 1;
        controller.abort('gone');
        return Promise.reject(new TypeError('The connection was cut.'));
      },
    });
    const { signal } = controller;
    const call = cut.convert(code, { recoverLostAnswer: true, signal });
    await expect(call).rejects.toBe('gone');
    await new Promise(setImmediate);
    expect(requests).toBe(1);
  });
});

describe('an answer that does not come is taken for lost', () => {
  it('only when nobody has time left to wait for it', async () => {
    const { hold, asked, letGo } = held();
    service.fates = [hold];
    const patient = latchkey.convert(code, { recoverLostAnswer: true });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 30 });
    await asked;
    // To ask again now would recover, and so kill the secret that the other one still gets.
    await expect(hasty).rejects.toThrow(TimeoutError);
    letGo();
    expect(await patient).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('as soon as those with more time have left', async () => {
    const controller = new AbortController();
    service.fates = [answerLost['never given']];
    const { signal } = controller;
    const patient = latchkey.convert(code, { recoverLostAnswer: true, signal });
    const hasty = latchkey.convert(code, { recoverLostAnswer: true, timeoutMs: 600 });
    setTimeout(() => controller.abort('gone'), 700);
    await expect(patient).rejects.toBe('gone');
    expect(await hasty).toHaveProperty('grant_secret', service.liveSecret());
    expect(service.calls()).toEqual([CONVERT, CONVERT, 'grants.recover']);
  });
});
