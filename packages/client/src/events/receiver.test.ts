import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { headersOf, newSecret } from '../../test/sign-message.ts';
import { LatchkeyConfigError } from '../index.ts';
import { type EventsOptions, fetchEvents } from './index.ts';

// What a receiver does with a message, and with its options. tests/events.test.ts has the frameworks.

const secret = newSecret();
const timestamp = '2026-11-21T02:15:30.123+00:00';
const grant = { grant_id: '0193aa00-0000-7000-8000-000000000001', reason: 'user' };

const handle = vi.fn();
const onError = vi.fn();
let options: EventsOptions;
beforeEach(() => {
  vi.resetAllMocks();
  options = { secret, on: { 'grant.revoked': handle }, onError };
});
afterEach(() => vi.restoreAllMocks());

const message = (type: string, data: object = grant) => JSON.stringify({ type, timestamp, data });

async function send(body: string, given = options, headers = headersOf(body, [secret])) {
  const request = new Request('https://acme.example', { method: 'POST', headers, body });
  const response = await fetchEvents(given)(request);
  return { status: response.status, text: await response.text() };
}

describe('a receiver', () => {
  it('calls the handler of the type, and responds when it is done', async () => {
    let done = false;
    handle.mockImplementation(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      done = true;
    });
    expect(await send(message('grant.revoked'))).toEqual({ status: 204, text: '' });
    expect(done).toBe(true);
    const details = { id: 'evt_1', type: 'grant.revoked', timestamp };
    expect(handle.mock.calls).toEqual([[grant, details]]);
  });

  it.each(['ping', 'grant.renewed', 'constructor', '__proto__'])(
    'acknowledges %s, which has no handler',
    async (type) => {
      expect(await send(message(type))).toEqual({ status: 204, text: '' });
      expect(handle).not.toHaveBeenCalled();
    },
  );

  it('responds with 500 to what a handler throws, whatever status that has', async () => {
    const error = Object.assign(new Error(`Not stored: ${secret}`), {
      status: 410,
      statusCode: 410,
    });
    handle.mockRejectedValueOnce(error);
    const { status, text } = await send(message('grant.revoked'));
    expect(status).toBe(500);
    expect(text).not.toContain('Not stored');
    const details = { id: 'evt_1', type: 'grant.revoked', timestamp };
    expect(onError.mock.calls).toEqual([[error, details]]);

    handle.mockImplementationOnce(() => {
      throw error;
    });
    expect((await send(message('grant.revoked'))).status).toBe(500);
    expect((await send(message('grant.revoked'))).status).toBe(204);
  });

  it('prints what a handler throws where nobody else is told, and nothing of the message', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {});
    const error = new Error('Not stored.');
    handle.mockRejectedValueOnce(error);
    const { onError: _, ...others } = options;
    expect((await send(message('grant.revoked'), others)).status).toBe(500);
    const [[text, ...more]] = print.mock.calls as [[string, ...unknown[]]];
    expect(more).toEqual([error]);
    expect(text).toContain('evt_1');
    expect(text).not.toContain(grant.grant_id);
  });

  it('refuses a message that nobody signed, and calls no handler', async () => {
    const body = message('grant.revoked');
    const forged = await send(body, options, headersOf(body, [newSecret()]));
    expect(forged).toMatchObject({ status: 400, text: expect.stringContaining('signature') });
    const old = await send(body, options, headersOf(body, [secret], { at: Date.now() - 302_000 }));
    expect(old).toMatchObject({ status: 400, text: expect.stringContaining('webhook-timestamp') });
    expect((await send('')).status).toBe(400);
    expect(handle).not.toHaveBeenCalled();
    expect(onError).not.toHaveBeenCalled();

    const later = { ...options, toleranceSeconds: 600 };
    const kept = headersOf(body, [secret], { at: Date.now() - 302_000 });
    expect((await send(body, later, kept)).status).toBe(204);
  });

  it('refuses more than 64 KiB, also without a length', async () => {
    const sized = (bytes: number) => {
      const empty = message('grant.revoked', { name: '' });
      return message('grant.revoked', { name: 'x'.repeat(bytes - empty.length) });
    };
    expect((await send(sized(65_536))).status).toBe(204);
    expect((await send(sized(65_537))).status).toBe(413);
    expect(handle).toHaveBeenCalledTimes(1);

    // A sender that never ends does not delay the response.
    let parts = 0;
    const slow = new ReadableStream({
      pull(controller) {
        if (++parts > 6) return new Promise(() => {});
        controller.enqueue(new Uint8Array(16_384));
        return undefined;
      },
    });
    const init = { method: 'POST', body: slow, duplex: 'half' } as RequestInit;
    expect((await fetchEvents(options)(new Request('https://acme.example', init))).status).toBe(
      413,
    );
  });

  it.each(['GET', 'PUT', 'HEAD'])('says to %s that it takes POST', async (method) => {
    const response = await fetchEvents(options)(new Request('https://acme.example', { method }));
    expect([response.status, response.headers.get('Allow')]).toEqual([405, 'POST']);
  });

  it('says that somebody else has read the body', async () => {
    const body = message('grant.revoked');
    const headers = headersOf(body, [secret]);
    const request = new Request('https://acme.example', { method: 'POST', headers, body });
    await request.json();
    const error = expect.objectContaining({ message: expect.stringContaining('Another parser') });
    await expect(fetchEvents(options)(request)).rejects.toEqual(error);
  });
});

it.each<[string, object]>([
  ['no secret', { secret: undefined }],
  ['a malformed secret', { secret: 'lk_app_1' }],
  ['a mistyped type', { on: { 'grant.revokd': () => {} } }],
  ['a handler that is none', { on: { 'grant.revoked': 'forget' } }],
  ['no handlers', { on: undefined }],
  ['an option that does not exist', { secrets: [secret] }],
  ['a tolerance that is none', { toleranceSeconds: '300' }],
])('%s is refused before the first message', (_, wrong) => {
  expect(() => fetchEvents({ ...options, ...wrong })).toThrow(LatchkeyConfigError);
});
