// A process of its own, because Node reads its environment at its start.

import { createSender } from '@latchkey/rules/events/attempt';
import { request } from '@latchkey/rules/outbound/request';
import { OutboundError } from '@latchkey/rules/outbound/send';

const allow = { private: true, http: true };
const sender = createSender({ clock: Date.now, allow });
const { signal } = new AbortController();

const results = await Promise.all(
  process.argv.slice(2).map(async (url) => [
    await request(new URL(url), {
      method: 'GET',
      headers: {},
      timeout: 10_000,
      maxBytes: 100,
      allow,
    }).then(
      ({ status }) => status,
      (error) => (error instanceof OutboundError ? error.failure : String(error)),
    ),
    (await sender.send({ url, headers: {}, body: '', signal }))?.result,
  ]),
);
process.stdout.write(JSON.stringify(results));
