import { type ErrorCode, errorCodes, errorTable } from '@latchkey/schema';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorBody, failure, refusal } from '../test/fake-service.ts';
import { reason } from '../test/reason.ts';
import { applicationSecret, code, grantId } from '../test/samples.ts';
import { useFakeService } from '../test/use-fake-service.ts';
import * as client from './index.ts';

const { Latchkey, LatchkeyError, isLatchkeyError } = client;

const service = useFakeService();
let latchkey: client.Latchkey;

beforeAll(() => {
  latchkey = new Latchkey({ baseUrl: service.url, applicationSecret, maxRetries: 0 });
});

/** The classes of the codes that are no `InvalidRequestError`. */
const classes: Partial<Record<ErrorCode, string>> = {
  credentials_missing: 'AuthenticationError',
  credentials_invalid: 'AuthenticationError',
  right_missing: 'RightMissingError',
  application_disabled: 'ApplicationDisabledError',
  code_not_found: 'CodeNotFoundError',
  code_expired: 'CodeExpiredError',
  code_already_used: 'CodeAlreadyUsedError',
  grant_not_found: 'GrantNotFoundError',
  grant_not_recoverable: 'GrantNotRecoverableError',
  prefetch_refused: 'ServerError',
  rate_limited: 'RateLimitedError',
  shutting_down: 'UnavailableError',
  store_unavailable: 'UnavailableError',
  store_full: 'UnavailableError',
  client_keys_unavailable: 'UnavailableError',
  client_document_unavailable: 'UnavailableError',
  outcome_unknown: 'OutcomeUnknownError',
  internal_error: 'ServerError',
};

/** The messages that are not the descriptions in the table. */
const messages: Partial<Record<ErrorCode, unknown>> = {
  // connection-error.test.ts has the whole of it.
  route_not_found: expect.stringMatching(/^This is Latchkey, but not at this path/),
};

const exported = new Map<string, unknown>(Object.entries(client));

describe.each(errorCodes)('%s', (error_code) => {
  const { [error_code]: name = 'InvalidRequestError' } = classes;

  it(`is a ${name} with every member of the response`, async () => {
    const members = {
      grant_id: grantId,
      issues: [{ path: ['code'], message: 'Must be the code.' }],
    };
    service.reply = refusal(error_code, members, { 'retry-after': '7' });
    const error = await reason(latchkey.convert(code));
    expect(error).toBeInstanceOf(exported.get(name));
    expect(error).toBeInstanceOf(LatchkeyError);
    expect({ ...error, name: error.name, message: error.message }).toEqual({
      name,
      message: messages[error_code] ?? errorTable[error_code].description,
      error_code,
      status: errorTable[error_code].status,
      request_id: 'request-1',
      error_uri: `https://latchkey.example/docs/errors#${error_code}`,
      retry_after: 7,
      ...members,
    });
  });
});

it('has no member that the response lacks', async () => {
  service.reply = failure(400, { error_code: 'code_expired', error_description: 'Too late.' });
  const error = await reason(latchkey.convert(code));
  expect({ ...error }).toEqual({
    error_code: 'code_expired',
    status: 400,
    request_id: 'request-1',
  });
});

it('names the grant that the call was about', async () => {
  service.reply = refusal('outcome_unknown', { grant_id: grantId });
  expect((await reason(latchkey.revoke(grantId))).grant_id).toBe(grantId);
  expect((await reason(latchkey.recover(grantId))).grant_id).toBe(grantId);
});

it('takes the request id from the header, or without one from the body', async () => {
  const body = errorBody('code_expired', { request_id: 'in-the-body' });
  service.reply = failure(400, body, { 'x-request-id': 'in-the-header' });
  expect((await reason(latchkey.convert(code))).request_id).toBe('in-the-header');
  service.reply = failure(400, body, { 'x-request-id': [] });
  expect((await reason(latchkey.convert(code))).request_id).toBe('in-the-body');
});

it.each([
  // By the clock of the service, whatever that of this machine says.
  ['Sat, 21 Nov 2026 02:15:30 GMT', 'Sat, 21 Nov 2026 02:15:00 GMT', 30],
  ['Sat, 21 Nov 2026 02:15:30 GMT', 'Sat, 21 Nov 2026 02:16:00 GMT', undefined],
  ['Fri, 31 Dec 9999 23:59:59 GMT', [], expect.any(Number)],
  ['2026-11-21', 'Sat, 21 Nov 2020 02:15:00 GMT', undefined],
  ['soon', 'Sat, 21 Nov 2026 02:15:00 GMT', undefined],
])('reads a Retry-After of %j, sent at %j', async (until, date, seconds) => {
  service.reply = refusal('rate_limited', {}, { 'retry-after': until, date });
  expect((await reason(latchkey.convert(code))).retry_after).toEqual(seconds);
});

describe('an error_code that this version does not know', () => {
  it.each([
    [400, 'InvalidRequestError'],
    [401, 'AuthenticationError'],
    [403, 'InvalidRequestError'],
    [404, 'InvalidRequestError'],
    [409, 'InvalidRequestError'],
    [429, 'RateLimitedError'],
    [500, 'ServerError'],
    // Not UnavailableError, which promises that nothing was done.
    [503, 'ServerError'],
  ])('falls back on status %d to %s', async (status, name) => {
    for (const error_code of ['brand_new', 'constructor', '__proto__', '']) {
      service.reply = failure(status, { ...errorBody('internal_error'), error_code });
      const error = await reason(latchkey.convert(code));
      expect(error).toMatchObject({ name, error_code: error_code, status });
    }
  });
});

it.each([
  ['code_already_used', 'InvalidRequestError'],
  ['outcome_unknown', 'ServerError'],
] as const)('does not promise a grant_id if %s comes without one', async (error_code, name) => {
  service.reply = refusal(error_code);
  expect(await reason(latchkey.convert(code))).toMatchObject({ name, error_code });
});

// Regression: its text was redacted in the JSON of the response, which nothing could read then.
it('reads the response for a code with quotation marks', async () => {
  service.reply = refusal('code_not_found');
  const error = await reason(latchkey.convert('"error_code":"'));
  expect(error).toMatchObject({ name: 'CodeNotFoundError' });
});

it('gives every class its own name, in stacks too', () => {
  const all = Object.entries(client).filter(([name]) => name.endsWith('Error') && name[0] !== 'i');
  expect(all).toHaveLength(22);
  for (const [name, Class] of all) {
    const error = new (Class as typeof client.ServerError)('Message.');
    expect(Class.name).toBe(name);
    expect(error.name).toBe(name);
    expect(error.stack).toMatch(`${name}: Message.`);
    expect(error).toBeInstanceOf(LatchkeyError);
    expect(Object.keys(error)).toEqual([]);
  }
});

it('has a TimeoutError that is a ConnectionError', () => {
  expect(new client.TimeoutError('Message.')).toBeInstanceOf(client.ConnectionError);
});

describe('isLatchkeyError', () => {
  it('recognises errors from another copy of the package', async () => {
    // Vite loads a module with another query as a separate copy.
    const copy: typeof client = await import('./errors.ts?copy' as './index.ts');
    const error = new copy.CodeExpiredError('Too late.');
    expect(error).not.toBeInstanceOf(LatchkeyError);
    expect(isLatchkeyError(error)).toBe(true);
  });

  it.each([undefined, null, 'text', {}, new Error('Another'), new client.ConnectionError('One')])(
    'tells whether %s is one',
    (value) => {
      expect(isLatchkeyError(value)).toBe(value instanceof LatchkeyError);
    },
  );
});
