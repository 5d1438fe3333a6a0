import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, refusal } from '../test/fake-service.ts';
import {
  answerLost,
  arrives,
  type Fate,
  type LinkingService,
  requestLost,
  startLinkingService,
  unknownAndDone,
  unknownAndNotDone,
} from '../test/linking-service.ts';
import { reason } from '../test/reason.ts';
import { applicationSecret, code, grantId } from '../test/samples.ts';
import { type ConvertOptions, Latchkey, type LatchkeyError } from './index.ts';

let service: LinkingService;
let latchkey: Latchkey;

beforeAll(async () => {
  service = await startLinkingService();
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0 });
});
beforeEach(() => service.reset());
afterAll(() => service.close());

const [CONVERT, RECOVER] = ['grants.convert', 'grants.recover'];

/** Converts, and waits no longer than needed where no answer will come. */
function convert(options: ConvertOptions = { recoverLostAnswer: true }) {
  const timeoutMs = service.fates.includes(answerLost['never given']) ? 800 : undefined;
  return latchkey.convert(code, { timeoutMs, ...options });
}

/** Answers with an error whatever is asked, and does nothing. */
const refuses =
  (reply: Reply): Fate =>
  () =>
    reply;

/** Converts, and expects a grant whose secret works, in these requests. */
async function getsTheGrantIn(calls: string[]): Promise<void> {
  const grant = await convert();
  expect(grant).toMatchObject({ object: 'oauth_grant', grant_id: grantId });
  expect(grant.grant_secret).toBe(service.liveSecret());
  expect(service.calls()).toEqual(calls);
}

/** Converts, and expects the first error, with what followed, in these requests. */
async function failsIn(calls: string[], first: string, then: string[]): Promise<LatchkeyError> {
  const error: LatchkeyError = await reason(convert());
  expect(error.name).toBe(first);
  expect(error.recoveryErrors?.map(({ name }) => name)).toEqual(then);
  expect(service.calls()).toEqual(calls);
  return error;
}

describe('the answer to an exchange got lost', () => {
  describe.each(Object.entries(answerLost))('%s', (_, lost) => {
    it('asks again, and recovers the grant', async () => {
      service.fates = [lost];
      await getsTheGrantIn([CONVERT, CONVERT, RECOVER]);
    });

    it('is an error unless the call asks for it', async () => {
      service.fates = [lost];
      expect(await reason(convert({}))).not.toHaveProperty('recoveryErrors');
      expect(service.calls()).toEqual([CONVERT]);
    });

    it('a second time: throws the first error', async () => {
      service.fates = [requestLost, lost];
      const error = await failsIn([CONVERT, CONVERT], 'ConnectionError', [expect.any(String)]);
      expect(error.recoveryErrors?.[0]).not.toBe(error);
    });

    it('with that of the recovery: throws the first error, and does not recover again', async () => {
      service.fates = [answerLost['the HTML 502 of a proxy'], arrives, lost];
      await failsIn([CONVERT, CONVERT, RECOVER], 'UnexpectedResponseError', [
        'CodeAlreadyUsedError',
        expect.any(String),
      ]);
    });
  });

  it('is no loss where nobody acted on the request: the second one makes the grant', async () => {
    service.fates = [requestLost];
    await getsTheGrantIn([CONVERT, CONVERT]);
  });

  it('throws the first error where the grant was used: it is not lost', async () => {
    service.fates = [answerLost.cut];
    service.grantIsUsed = true;
    const error = await failsIn([CONVERT, CONVERT, RECOVER], 'ConnectionError', [
      'CodeAlreadyUsedError',
      'GrantNotRecoverableError',
    ]);
    expect(error.recoveryErrors).toMatchObject([{ grant_id: grantId }, { status: 409 }]);
  });

  it('throws the first error where the grant was revoked, and converts no more', async () => {
    service.fates = [answerLost.cut];
    service.grantIsRevoked = true;
    await failsIn([CONVERT, CONVERT, RECOVER], 'ConnectionError', [
      'CodeAlreadyUsedError',
      'GrantNotFoundError',
    ]);
  });
});

describe('the service itself can’t tell', () => {
  it('recovers the grant that it names', async () => {
    service.fates = [unknownAndDone];
    await getsTheGrantIn([CONVERT, RECOVER]);
  });

  it('converts again where there is none', async () => {
    service.fates = [unknownAndNotDone];
    await getsTheGrantIn([CONVERT, RECOVER, CONVERT]);
  });

  it('does the same when it asks again', async () => {
    service.fates = [requestLost, unknownAndDone];
    await getsTheGrantIn([CONVERT, CONVERT, RECOVER]);
    service.reset();
    service.fates = [requestLost, unknownAndNotDone];
    await getsTheGrantIn([CONVERT, CONVERT, RECOVER, CONVERT]);
  });

  it.each([
    ['lost', answerLost.cut, 'ConnectionError'],
    ['unknown', unknownAndDone, 'OutcomeUnknownError'],
    ['a refusal', refuses(refusal('code_expired')), 'CodeExpiredError'],
  ])('makes no fifth request where the last answer is %s', async (_, last, name) => {
    service.fates = [requestLost, unknownAndNotDone, arrives, last];
    await failsIn([CONVERT, CONVERT, RECOVER, CONVERT], 'ConnectionError', [
      'OutcomeUnknownError',
      'GrantNotFoundError',
      name,
    ]);
  });
});

describe('an answer that was not lost is not asked for again', () => {
  it.each<[string, Reply]>([
    ['CodeAlreadyUsedError', refusal('code_already_used', { grant_id: grantId })],
    ['CodeExpiredError', refusal('code_expired')],
    ['CodeNotFoundError', refusal('code_not_found')],
    ['AuthenticationError', refusal('credentials_invalid')],
    ['UnavailableError', refusal('store_unavailable')],
    ['RateLimitedError', refusal('rate_limited')],
    ['UnexpectedResponseError', (response) => response.writeHead(307, { location: '/' }).end()],
    ['UnexpectedResponseError', (response) => response.writeHead(403).end('<html>')],
  ])('%s', async (name, reply) => {
    service.fates = [refuses(reply)];
    const error = await reason(convert());
    expect(error.name).toBe(name);
    expect(error).not.toHaveProperty('recoveryErrors');
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('a request that was not sent', async () => {
    const gone = await startLinkingService();
    await gone.close();
    const error = await reason(
      new Latchkey({ baseUrl: gone.url, applicationSecret, maxRetries: 0 }).convert(code, {
        recoverLostAnswer: true,
      }),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', maybeSent: false });
    expect(error).not.toHaveProperty('recoveryErrors');
  });
});

describe('the caller’s signal ends it', () => {
  it.each([
    ['the first answer', [], [CONVERT]],
    ['the second', [answerLost.cut], [CONVERT, CONVERT]],
    ['the recovery', [answerLost.cut, arrives], [CONVERT, CONVERT, RECOVER]],
  ])('while it waits for %s', async (_, before, calls) => {
    const controller = new AbortController();
    const why = new Error('The user went away.');
    const aborts: Fate = (act) => {
      act();
      return () => controller.abort(why);
    };
    service.fates = [...before, aborts];
    expect(await reason(convert({ recoverLostAnswer: true, signal: controller.signal }))).toBe(why);
    // A request made after that would have come before this one.
    await latchkey.recover(grantId);
    expect(service.calls()).toEqual([...calls, RECOVER]);
  });
});

describe('its time', () => {
  it('is up after twice the timeout, with the first error and the last', async () => {
    service.fates = [requestLost, answerLost['never given']];
    const error = await failsIn([CONVERT, CONVERT], 'ConnectionError', ['TimeoutError']);
    expect(error.recoveryErrors?.[0]?.message).toContain('within 800 ms');
  });

  it('is the same where nothing answers at all', async () => {
    service.fates = [answerLost['never given'], answerLost['never given']];
    await failsIn([CONVERT, CONVERT], 'TimeoutError', ['TimeoutError']);
  });

  it('does not depend on a fetch that heeds its signal', async () => {
    let requests = 0;
    const deaf = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      timeoutMs: 30,
      fetch: () => {
        requests += 1;
        return new Promise(() => {});
      },
    });
    const error = await reason(deaf.convert(code, { recoverLostAnswer: true }));
    expect(error).toMatchObject({ name: 'TimeoutError', recoveryErrors: [{ maybeSent: true }] });
    expect(requests).toBe(2);
  });
});
