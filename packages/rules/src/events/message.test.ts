import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { endpointSecret } from './endpoint-secret.ts';
import { isSigned, messageHeaders } from './message.ts';

const EVENT_ID = '0198c5a2-7d3e-7f4a-9b1c-2d3e4f5a6b7c';
const ENDPOINT_ID = '0198c5a2-7d3e-7f4a-9b1c-2d3e4f5a6b7d';
const [newest = '', before = '', other = ''] = [2, 1, 3].map((version) =>
  endpointSecret('an events key of 32 characters or more', ENDPOINT_ID, version),
);

const body = JSON.stringify({ type: 'ping', data: { name: 'Zoë 🙂\u2028' } });

test('a message has the headers of the contract', () => {
  const now = 1_800_000_000_999;
  expect(
    messageHeaders(
      { eventId: EVENT_ID, body },
      { secrets: [newest, before], userAgent: 'Latchkey/1.2.3', now },
    ),
  ).toEqual({
    'content-type': 'application/json; charset=UTF-8',
    'user-agent': 'Latchkey/1.2.3',
    'webhook-id': `evt_${EVENT_ID}`,
    'webhook-timestamp': '1800000000',
    'webhook-signature': expect.stringMatching(/^v1,[\w+/]{43}= v1,[\w+/]{43}=$/),
  });
});

test('a library of Standard Webhooks verifies a message with each good secret, and no other', () => {
  const headers = messageHeaders(
    { eventId: EVENT_ID, body },
    { secrets: [newest, before], userAgent: 'Latchkey/1.2.3', now: Date.now() },
  );
  for (const secret of [newest, before]) {
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  }
  expect(() => new Webhook(other).verify(body, headers)).toThrow('No matching signature');
  expect(() => new Webhook(newest).verify(`${body} `, headers)).toThrow('No matching signature');
  // Receivers that know one secret compare it with the first signature first.
  const [first = ''] = (headers['webhook-signature'] ?? '').split(' ');
  const alone = { ...headers, 'webhook-signature': first };
  expect(new Webhook(newest).verify(body, alone)).toEqual(JSON.parse(body));
});

test('a message that was received is signed by a good secret within five minutes, and not else', () => {
  const now = 1_800_000_000_000;
  const message = { eventId: EVENT_ID, body };
  const headers = messageHeaders(message, { secrets: [newest, before], userAgent: 'a', now });
  for (const secret of [newest, before]) {
    expect(isSigned({ headers, body }, { secret, now })).toBe(true);
    expect(isSigned({ headers, body }, { secret, now: now + 300_000 })).toBe(true);
    expect(isSigned({ headers, body }, { secret, now: now + 301_000 })).toBe(false);
    expect(isSigned({ headers, body }, { secret, now: now - 301_000 })).toBe(false);
  }
  expect(isSigned({ headers, body }, { secret: other, now })).toBe(false);
  expect(isSigned({ headers, body: `${body} ` }, { secret: newest, now })).toBe(false);
  for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
    const { [name]: _, ...rest } = headers;
    expect(isSigned({ headers: rest, body }, { secret: newest, now })).toBe(false);
  }
});
