// A process of its own, because its name servers are those of its machine, at port 53.

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSender } from '@latchkey/rules/events/attempt';
import { request } from '@latchkey/rules/outbound/request';
import { serveNames } from './name-server.ts';

const answerTo = (name: string, type: string) => {
  if (name !== 'honest.example') return 'silence';
  return type === 'A' ? ['127.0.0.1'] : [];
};
for (const address of ['127.0.0.1', '127.0.0.2']) await serveNames(answerTo, { address, port: 53 });
const receiver = createServer((_, response) => response.end()).listen(0, '127.0.0.1');
await once(receiver, 'listening');

const allow = { private: true, http: true };
const slow: Record<string, number> = {};
const all = Array.from({ length: 96 }, async (_, index) => {
  const sent = request(new URL(`https://slow-${index}.example/`), {
    ...{ method: 'GET' as const, headers: {}, timeout: 20_000, maxBytes: 100, allow },
  });
  const { failure } = await sent.catch((error) => error);
  slow[failure] = (slow[failure] ?? 0) + 1;
});
const attempt = await createSender({ clock: Date.now, allow }).send({
  url: `http://honest.example:${(receiver.address() as AddressInfo).port}/`,
  ...{ headers: {}, body: '', signal: new AbortController().signal },
});
await Promise.all(all);
process.stdout.write(JSON.stringify({ honest: attempt?.result, slow }), () => process.exit());
