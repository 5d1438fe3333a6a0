import { randomBytes } from 'node:crypto';
import { EventTimestampError, verifyEvent } from '@latchkey/client/events';
import { describe, expect, it } from 'vitest';
import { signEvent } from './index.ts';

const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
const secret = newSecret();
const event = { type: 'ping', data: { object: 'endpoint' } } as const;

describe('signEvent', () => {
  it('makes a message that the SDK verifies, with an id of its own and the time of now', async () => {
    const { body, headers } = signEvent(event, secret);
    const verified = await verifyEvent(body, headers, secret);
    expect(verified).toMatchObject(event);
    expect(verified.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
    expect(Math.abs(Date.parse(verified.timestamp) - Date.now())).toBeLessThan(60_000);
    expect(headers['webhook-id']).toMatch(/^evt_[0-9a-f-]{36}$/);
    expect(signEvent(event, secret).headers['webhook-id']).not.toBe(headers['webhook-id']);
  });

  it('signs with each secret of a list', async () => {
    const secrets = [newSecret(), secret];
    const { body, headers } = signEvent(event, secrets);
    for (const each of secrets) expect(await verifyEvent(body, headers, each)).toMatchObject(event);
  });

  it('makes repeats and old messages', async () => {
    const timestamp = '2026-11-21T02:15:30.123+00:00';
    const at = Date.now() - 3_600_000;
    const { body, headers } = signEvent({ ...event, timestamp }, secret, { id: 'evt_7', at });
    expect(headers).toMatchObject({ 'webhook-id': 'evt_7' });
    expect(JSON.parse(body)).toEqual({ ...event, timestamp });
    expect(await verifyEvent(body, headers, secret, { now: at })).toMatchObject(event);
    await expect(verifyEvent(body, headers, secret)).rejects.toThrow(EventTimestampError);
  });

  it('refuses a secret of another form, without showing it', () => {
    expect(() => signEvent(event, 'lk_app_secret')).toThrow(
      TypeError('The secret must be whsec_ and base64.'),
    );
  });
});
