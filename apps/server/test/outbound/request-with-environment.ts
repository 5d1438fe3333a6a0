// A process of its own, because Node reads its environment at its start.

import { request } from '../../src/outbound/request.ts';
import { OutboundError } from '../../src/outbound/send.ts';

const results = await Promise.all(
  process.argv.slice(2).map((url) =>
    request(new URL(url), {
      method: 'GET',
      headers: {},
      timeout: 10_000,
      maxBytes: 100,
      allow: { private: true, http: true },
    }).then(
      ({ status }) => status,
      (error) => (error instanceof OutboundError ? error.failure : String(error)),
    ),
  ),
);
process.stdout.write(JSON.stringify(results));
