import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { reason } from '../../test/reason.ts';
import { headersOf, newSecret } from '../../test/sign-message.ts';
import { LatchkeyConfigError } from '../index.ts';
import { EventSignatureError, EventTimestampError, verifyEvent } from './index.ts';

const secret = newSecret();
const event = {
  type: 'grant.revoked',
  timestamp: '2026-11-21T02:15:30.123+00:00',
  data: { grant_id: '0193aa00-0000-7000-8000-000000000001', reason: 'user', name: 'Ödön' },
};
const body = JSON.stringify(event);
const bytes = [...new TextEncoder().encode(body)];
const headers = headersOf(body, [secret]);

describe('verifyEvent', () => {
  it('verifies the example of Standard Webhooks', async () => {
    // Of the specification's test suites.
    const text = '{"test": 2432232314}';
    const signed = {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    };
    const options = { now: 1_614_265_330_000 };
    const given = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const error = await reason(verifyEvent(text, signed, given, options));
    expect(error).toBeInstanceOf(EventSignatureError);
    // Its signature is right, and it is no event.
    expect(error).toHaveProperty('message', expect.stringContaining('has no event'));
  });

  it.each<[string, string | Uint8Array | ArrayBuffer]>([
    ['text', body],
    ['a Buffer, which may be a part of another', Buffer.from(body)],
    ['an ArrayBuffer', new TextEncoder().encode(body).buffer],
    ['a Uint8Array of another realm', runInNewContext('Uint8Array.from(bytes)', { bytes })],
    [
      'an ArrayBuffer of another realm',
      runInNewContext('Uint8Array.from(bytes).buffer', { bytes }),
    ],
  ])('takes %s', async (_, given) => {
    expect(await verifyEvent(given, headers, secret)).toEqual(event);
  });

  it.each([
    ['Headers', new Headers(headers)],
    ['an object', headers],
    [
      'an object with names in capitals',
      Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
      ),
    ],
  ])('takes %s', async (_, given) => {
    expect(await verifyEvent(body, given, secret)).toEqual(event);
  });

  it('knows one right signature among several, and one right secret', async () => {
    const other = newSecret();
    const signed = headersOf(body, [newSecret(), secret]);
    expect(await verifyEvent(body, signed, [other, secret])).toEqual(event);
    const more = `v1a,AAAA ${signed['webhook-signature']} v1,`;
    expect(await verifyEvent(body, { ...signed, 'webhook-signature': more }, secret)).toEqual(
      event,
    );
    await expect(verifyEvent(body, signed, [other])).rejects.toThrow(EventSignatureError);
  });

  const [, base64 = ''] = headers['webhook-signature'].split(',');
  it.each<[string, string, Record<string, string | undefined>]>([
    ['a body that was changed', body.replace('user', 'host'), {}],
    ['a body that was parsed and written again', JSON.stringify(event, null, 1), {}],
    ['another id', body, { 'webhook-id': 'evt_2' }],
    ['another time', body, { 'webhook-timestamp': `${Number(headers['webhook-timestamp']) + 1}` }],
    [
      'a number with something behind',
      body,
      { 'webhook-timestamp': `${headers['webhook-timestamp']}.` },
    ],
    ['no id', body, { 'webhook-id': undefined }],
    ['no time', body, { 'webhook-timestamp': undefined }],
    ['no signature', body, { 'webhook-signature': undefined }],
    ['an empty signature', body, { 'webhook-signature': 'v1,' }],
    ['a signature without its version', body, { 'webhook-signature': base64 }],
    ['a signature of another version', body, { 'webhook-signature': `v2,${base64}` }],
    ['a signature that is cut short', body, { 'webhook-signature': `v1,${base64.slice(0, -1)}` }],
    ['the key of another endpoint', body, headersOf(body, [newSecret()])],
  ])('refuses %s', async (_, text, changed) => {
    const error = await reason(verifyEvent(text, { ...headers, ...changed }, secret));
    expect(error).toBeInstanceOf(EventSignatureError);
    expect((error as Error).name).toBe('EventSignatureError');
  });

  it('refuses bytes that mean the same text', async () => {
    // A decoder makes the same replacement character of each of them.
    const [one, other] = [0xfe, 0xff].map((byte) =>
      Buffer.concat([
        Buffer.from('{"type":"ping","timestamp":"","data":{"id":"'),
        Buffer.from([byte]),
        Buffer.from('"}}'),
      ]),
    ) as [Buffer, Buffer];
    const signed = headersOf(one, [secret]);
    expect((await verifyEvent(one, signed, secret)).type).toBe('ping');
    await expect(verifyEvent(other, signed, secret)).rejects.toThrow(EventSignatureError);
  });

  it('refuses a message whose dots could be read in another way', async () => {
    const signed = { ...headers, 'webhook-id': `evt_1.${headers['webhook-timestamp']}` };
    await expect(verifyEvent(body, signed, secret)).rejects.toThrow(EventSignatureError);
    const dotted = headersOf(body, [secret], { id: 'evt.1' });
    await expect(verifyEvent(body, dotted, secret)).rejects.toThrow(EventSignatureError);
    // The beginning of a body, as the end of the time.
    const cut = headersOf(`5.${body}`, [secret]);
    const moved = { ...cut, 'webhook-timestamp': `${cut['webhook-timestamp']}.5` };
    await expect(verifyEvent(body, moved, secret)).rejects.toThrow(EventSignatureError);
  });

  it.each([
    [300, 301],
    [10, 11],
  ])('accepts a time %i seconds away and refuses %i, in both directions', async (near, far) => {
    const at = 1_800_000_000_000;
    const options = { now: at, ...(near !== 300 && { toleranceSeconds: near }) };
    for (const sign of [-1, 1]) {
      const of = (seconds: number) => headersOf(body, [secret], { at: at + sign * seconds * 1000 });
      expect(await verifyEvent(body, of(near), secret, options)).toEqual(event);
      const error = await reason(verifyEvent(body, of(far), secret, options));
      expect(error).toBeInstanceOf(EventTimestampError);
      expect((error as Error).name).toBe('EventTimestampError');
    }
  });

  it.each([
    ['what is no JSON', 'grant.revoked'],
    ['what is no object', 'null'],
    ['an object without a type', '{"data":{}}'],
    ['an object without data', '{"type":"ping","data":"x"}'],
  ])('refuses %s, and shows nothing of it', async (_, text) => {
    const error = await reason(verifyEvent(text, headersOf(text, [secret]), secret));
    expect(error).toBeInstanceOf(EventSignatureError);
    expect(error).not.toHaveProperty('cause');
    expect(String((error as Error).message)).not.toContain(text);
  });

  it('says that an object can not be verified', async () => {
    for (const parsed of [event, undefined, null]) {
      const error = await reason(verifyEvent(parsed as never, headers, secret));
      expect(error).toBeInstanceOf(TypeError);
      expect((error as Error).message).toContain('express.json()');
    }
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['empty', ''],
    ['an empty list', []],
    ['a list with a missing one', [secret, undefined]],
  ])('refuses a secret that is %s, and says what to set', async (_, given) => {
    const error = await reason(verifyEvent(body, headers, given as string));
    expect(error).toBeInstanceOf(LatchkeyConfigError);
    expect((error as Error).message).toContain('whsec_');
    expect((error as Error).message).toContain('LATCHKEY_EVENTS_SECRET');
  });

  it.each<[string, unknown]>([
    ['of an application', 'lk_app_something'],
    ['without its prefix', secret.slice('whsec_'.length)],
    ['with a line break', `${secret}\n`],
    ['cut short', secret.slice(0, -3)],
    ['too short', newSecret(23)],
    ['too long', newSecret(65)],
    ['no text', 4_242_424_242_424_242],
  ])('refuses a secret that is %s, without showing it', async (_, given) => {
    const error = await reason(verifyEvent(body, headers, [secret, given as string]));
    expect(error).toBeInstanceOf(LatchkeyConfigError);
    expect((error as Error).message).not.toContain(String(given).slice(8));
  });

  it('refuses options that are not valid or do not exist', async () => {
    for (const options of [
      { toleranceSeconds: Number.NaN },
      { toleranceSeconds: -1 },
      { tolerance: 3 },
    ]) {
      const error = await reason(verifyEvent(body, headers, secret, options as never));
      expect(error).toBeInstanceOf(LatchkeyConfigError);
    }
  });
});
