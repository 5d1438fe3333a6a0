import { randomBytes } from 'node:crypto';
import { fetchEvents } from '@latchkey/client/events';
import { signEvent } from '@latchkey/testing';
import { expect, test } from 'vitest';

test('a grant that was revoked is forgotten', async () => {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const forgotten: string[] = [];
  const receive = fetchEvents({
    secret,
    on: { 'grant.revoked': ({ grant_id }) => forgotten.push(grant_id) },
  });

  const event = {
    type: 'grant.revoked',
    data: { grant_id: '0193aa00-0000-7000-8000-000000000001' },
  } as const;
  const message = signEvent(event, secret);
  const request = new Request('http://localhost/latchkey-events', { method: 'POST', ...message });
  expect((await receive(request)).status).toBe(204);
  expect(forgotten).toEqual([event.data.grant_id]);
});
