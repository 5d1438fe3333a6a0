import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../listen.ts';
import type { Records } from './bare/records.ts';
import { setUp } from './bare/rules.ts';
import { bareListener } from './bare/server.ts';
import { Connection, encode } from './connection.ts';
import type { RunningServer } from './contender.ts';
import { mapRecords } from './contenders/floor.ts';
import { measureOperations } from './measure.ts';
import { restWire } from './wires/rest.ts';

const servers: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function serve(listener: RequestListener): Promise<URL> {
  const server = await listen();
  servers.push(server);
  server.handle(listener);
  return new URL(server.url);
}

/** Starts the floor in this process, with some methods of its records replaced. */
async function startFloor(change: (records: Records) => Partial<Records> = () => ({})) {
  const right = mapRecords();
  const records = { ...right, ...change(right) };
  const { secret, issue } = await setUp(records);
  return {
    process: {
      cpuSeconds: async () => process.cpuUsage().user / 1e6,
    } as RunningServer['process'],
    url: await serve(bareListener(records)),
    wire: restWire(secret),
    issue,
    startMilliseconds: 0,
  };
}

const sizes = { connections: 4, requests: 20 };

describe('a measurement', () => {
  test('has a sample for each operation', async () => {
    const samples = await measureOperations(await startFloor(), sizes);
    expect(Object.keys(samples)).toEqual(['convert', 'first use', 'authenticate', 'revoke']);
    for (const { throughput, p50, p99 } of Object.values(samples)) {
      expect(throughput).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50);
    }
  });

  test('fails on a wrong response', async () => {
    const wrong = await startFloor(() => ({ revokeGrant: () => null }));
    await expect(measureOperations(wrong, sizes)).rejects.toThrow(/^revoke responded with 404/);
  });

  test('fails if a code is redeemed twice', async () => {
    const wrong = await startFloor((right) => {
      const made = new Map<string, Awaited<ReturnType<typeof right.redeemCode>>>();
      return {
        async redeemCode(redemption) {
          const grant = (await right.redeemCode(redemption)) ?? made.get(redemption.grant_id);
          if (grant) made.set(redemption.grant_id, grant);
          return grant ?? null;
        },
      };
    });
    await expect(measureOperations(wrong, sizes)).rejects.toThrow(/was accepted/);
  });

  test('fails if a revoked grant is accepted', async () => {
    const wrong = await startFloor((right) => ({
      async revokeGrant({ grant_id }) {
        const found = await right.authenticateGrant(grant_id);
        return found?.account ? { ...found.grant, account: found.account } : null;
      },
    }));
    await expect(measureOperations(wrong, sizes)).rejects.toThrow(/was accepted/);
  });
});

describe('a connection', () => {
  test('reads responses with a length and with chunks, in any packets', async () => {
    const text = 'ä'.repeat(300);
    const url = await serve((request, response) => {
      if (request.url === '/length') return response.end(text);
      // Two packets, split in the middle of a character.
      const bytes = Buffer.from(text);
      response.write(bytes.subarray(0, 101));
      setTimeout(() => response.end(bytes.subarray(101)), 5);
    });
    const connection = await Connection.open(url);
    const get = (path: string) => connection.send(encode(url, { method: 'GET', path }));
    expect(await get('/length')).toEqual({ status: 200, body: text });
    expect(await get('/chunks')).toEqual({ status: 200, body: text });
    expect(await get('/length')).toEqual({ status: 200, body: text });
    connection.close();
  });

  test('begins anew after a response that ends it', async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { connection: 'close' }).end('last');
    });
    const connection = await Connection.open(url);
    const request = encode(url, { method: 'GET', path: '/' });
    expect(await connection.send(request)).toEqual({ status: 200, body: 'last' });
    expect(await connection.send(request)).toEqual({ status: 200, body: 'last' });
    connection.close();
  });
});
