import type dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, onTestFinished, test, vi } from 'vitest';
import { send } from './connection.ts';

/** Whoever owns these names leads them here. */
const NAMES: Record<string, string[]> = {
  'a.example': ['127.0.0.1'],
  'b.example': ['::ffff:127.0.0.2'],
  'c.example': ['192.0.2.1', '0.0.0.0'],
};

vi.mock('node:dns', async (original) => {
  const real = await original<typeof dns>();
  const lookup = (name: string, options: dns.LookupAllOptions, found: (...all: never[]) => void) =>
    name in NAMES
      ? found(null as never, NAMES[name]?.map((address) => ({ address, family: 4 })) as never)
      : real.lookup(name, options, found as never);
  return { ...real, default: { ...real, lookup }, lookup };
});

test('a named host that leads to this machine by its name is not called', async () => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const callTo = (host: string) => send({ url: new URL(`http://${host}:${port}/`) }, 60_000);
  for (const host of Object.keys(NAMES)) {
    await expect(callTo(host)).rejects.toThrow('leads to this machine');
  }
  expect(requests).toBe(0);
  for (const host of ['localhost', '127.0.0.1']) expect((await callTo(host)).status).toBe(200);
});
