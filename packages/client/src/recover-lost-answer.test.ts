import { slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Reply, refusal } from '../test/fake-service.ts';
import {
  type Handler,
  handleNormally,
  type LinkingService,
  requestLost,
  responseLost,
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

// Enough for a request on a busy machine.
const SHORT_MS = 2_000;

/** Converts, with a short timeout if no response will come. */
function convert(options: ConvertOptions = { recoverLostAnswer: true }) {
  const timeoutMs = service.handlers.includes(responseLost['never given']) ? SHORT_MS : undefined;
  return latchkey.convert(code, { timeoutMs, ...options });
}

/** Responds with an error to any request, and does nothing. */
const refuses =
  (reply: Reply): Handler =>
  () =>
    reply;

/** Converts, and expects a grant whose secret works after exactly these requests. */
async function getsTheGrantIn(calls: string[]): Promise<void> {
  const grant = await convert();
  expect(grant).toMatchObject({ object: 'oauth_grant', grant_id: grantId });
  expect(grant.grant_secret).toBe(service.liveSecret());
  expect(service.calls()).toEqual(calls);
}

/** Converts, and expects the first error and those that followed after exactly these requests. */
async function failsIn(calls: string[], first: string, then: string[]): Promise<LatchkeyError> {
  const error: LatchkeyError = await reason(convert());
  expect(error.name).toBe(first);
  expect(error.recovery_errors?.map(({ name }) => name)).toEqual(then);
  expect(service.calls()).toEqual(calls);
  return error;
}

describe('the response to a conversion is lost', () => {
  describe.each(Object.entries(responseLost))('%s', (name, lost) => {
    // Each of these waits for the timeout, which 'the timeout' below does every day.
    const options = name === 'never given' ? slow : {};

    it('converts again, and recovers the grant', options, async () => {
      service.handlers = [lost];
      await getsTheGrantIn([CONVERT, CONVERT, RECOVER]);
    });

    it('is an error without recoverLostAnswer', options, async () => {
      service.handlers = [lost];
      expect(await reason(convert({}))).not.toHaveProperty('recovery_errors');
      expect(service.calls()).toEqual([CONVERT]);
    });

    it('throws the first error if the second response is lost too', options, async () => {
      service.handlers = [requestLost, lost];
      const error = await failsIn([CONVERT, CONVERT], 'ConnectionError', [expect.any(String)]);
      expect(error.recovery_errors?.[0]).not.toBe(error);
    });

    it(
      'throws the first error if the response of the recovery is lost too, and does not recover again',
      options,
      async () => {
        service.handlers = [responseLost['the HTML 502 of a proxy'], handleNormally, lost];
        await failsIn([CONVERT, CONVERT, RECOVER], 'UnexpectedResponseError', [
          'CodeAlreadyUsedError',
          expect.any(String),
        ]);
      },
    );
  });

  it('gets the grant from the second request if the first one was not carried out', async () => {
    service.handlers = [requestLost];
    await getsTheGrantIn([CONVERT, CONVERT]);
  });

  it('throws the first error if the grant was used', async () => {
    service.handlers = [responseLost.cut];
    service.grantIsUsed = true;
    const error = await failsIn([CONVERT, CONVERT, RECOVER], 'ConnectionError', [
      'CodeAlreadyUsedError',
      'GrantNotRecoverableError',
    ]);
    expect(error.recovery_errors).toMatchObject([{ grant_id: grantId }, { status: 409 }]);
  });

  it('throws the first error if the grant was revoked, and does not convert again', async () => {
    service.handlers = [responseLost.cut];
    service.grantIsRevoked = true;
    await failsIn([CONVERT, CONVERT, RECOVER], 'ConnectionError', [
      'CodeAlreadyUsedError',
      'GrantNotFoundError',
    ]);
  });
});

describe('the service can’t tell', () => {
  it('recovers the grant that it names', async () => {
    service.handlers = [unknownAndDone];
    await getsTheGrantIn([CONVERT, RECOVER]);
  });

  it('converts again if there is no such grant', async () => {
    service.handlers = [unknownAndNotDone];
    await getsTheGrantIn([CONVERT, RECOVER, CONVERT]);
  });

  it('does the same after a second request', async () => {
    service.handlers = [requestLost, unknownAndDone];
    await getsTheGrantIn([CONVERT, CONVERT, RECOVER]);
    service.reset();
    service.handlers = [requestLost, unknownAndNotDone];
    await getsTheGrantIn([CONVERT, CONVERT, RECOVER, CONVERT]);
  });

  it.each([
    ['lost', responseLost.cut, 'ConnectionError'],
    ['unknown', unknownAndDone, 'OutcomeUnknownError'],
    ['an error', refuses(refusal('code_expired')), 'CodeExpiredError'],
  ])('sends no fifth request if the last response is %s', async (_, last, name) => {
    service.handlers = [requestLost, unknownAndNotDone, handleNormally, last];
    await failsIn([CONVERT, CONVERT, RECOVER, CONVERT], 'ConnectionError', [
      'OutcomeUnknownError',
      'GrantNotFoundError',
      name,
    ]);
  });
});

describe('there is no recovery if no response was lost', () => {
  it.each<[string, Reply]>([
    ['CodeAlreadyUsedError', refusal('code_already_used', { grant_id: grantId })],
    ['CodeExpiredError', refusal('code_expired')],
    ['CodeNotFoundError', refusal('code_not_found')],
    ['AuthenticationError', refusal('credentials_invalid')],
    ['ApplicationDisabledError', refusal('application_disabled')],
    ['UnavailableError', refusal('store_unavailable')],
    ['RateLimitedError', refusal('rate_limited')],
    ['UnexpectedResponseError', (response) => response.writeHead(307, { location: '/' }).end()],
    ['UnexpectedResponseError', (response) => response.writeHead(403).end('<html>')],
  ])('%s', async (name, reply) => {
    service.handlers = [refuses(reply)];
    const error = await reason(convert());
    expect(error.name).toBe(name);
    expect(error).not.toHaveProperty('recovery_errors');
    expect(service.calls()).toEqual([CONVERT]);
  });

  it('because the request was not sent', async () => {
    const gone = await startLinkingService();
    await gone.close();
    const error = await reason(
      new Latchkey({ baseUrl: gone.url, applicationSecret, maxRetries: 0 }).convert(code, {
        recoverLostAnswer: true,
      }),
    );
    expect(error).toMatchObject({ name: 'ConnectionError', maybe_sent: false });
    expect(error).not.toHaveProperty('recovery_errors');
  });
});

describe('the caller’s signal ends the call', () => {
  it.each([
    ['the first response', [], [CONVERT]],
    ['the second response', [responseLost.cut], [CONVERT, CONVERT]],
    ['the recovery', [responseLost.cut, handleNormally], [CONVERT, CONVERT, RECOVER]],
  ])('while it waits for %s', async (_, before, calls) => {
    const controller = new AbortController();
    const why = new Error('The user left.');
    const aborts: Handler = (act) => {
      act();
      return () => controller.abort(why);
    };
    service.handlers = [...before, aborts];
    expect(await reason(convert({ recoverLostAnswer: true, signal: controller.signal }))).toBe(why);
    // A request after the abort would arrive before this one.
    await latchkey.recover(grantId);
    expect(service.calls()).toEqual([...calls, RECOVER]);
  });
});

describe('the timeout', () => {
  it('ends the call after twice timeoutMs, with the first and the last error', async () => {
    service.handlers = [requestLost, responseLost['never given']];
    const error = await failsIn([CONVERT, CONVERT], 'ConnectionError', ['TimeoutError']);
    expect(error.recovery_errors?.[0]?.message).toContain(`within ${SHORT_MS} ms`);
  });

  it('is the same if there is no response at all', async () => {
    service.handlers = [responseLost['never given'], responseLost['never given']];
    await failsIn([CONVERT, CONVERT], 'TimeoutError', ['TimeoutError']);
  });

  it('works with a fetch that ignores its signal', async () => {
    let requests = 0;
    const client = new Latchkey({
      baseUrl: service.url,
      applicationSecret,
      timeoutMs: 30,
      fetch: () => {
        requests += 1;
        return new Promise(() => {});
      },
    });
    const error = await reason(client.convert(code, { recoverLostAnswer: true }));
    expect(error).toMatchObject({ name: 'TimeoutError', recovery_errors: [{ maybe_sent: true }] });
    expect(requests).toBe(2);
  });
});
