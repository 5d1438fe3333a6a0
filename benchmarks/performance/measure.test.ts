import type { RequestListener } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../listen.ts';
import type { Records } from './bare/records.ts';
import { setUp } from './bare/rules.ts';
import { bareListener } from './bare/server.ts';
import { Connection, encode } from './connection.ts';
import type { Running } from './contender.ts';
import { mapRecords } from './contenders/floor.ts';
import { turn } from './measure.ts';
import { restWire } from './wires/rest.ts';

const servers: { close(): Promise<void> }[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function serve(listener: RequestListener): Promise<URL> {
  const server = await listen();
  servers.push(server);
  server.handle(listener);
  return new URL(server.url);
}

/** The floor in this process, with some of its records' methods changed. */
async function running(change: (records: Records) => Partial<Records> = () => ({})) {
  const right = mapRecords();
  const records = { ...right, ...change(right) };
  const { secret, issue } = await setUp(records);
  return {
    server: { cpuSeconds: async () => process.cpuUsage().user / 1e6 } as Running['server'],
    url: await serve(bareListener(records)),
    wire: restWire(secret),
    issue,
    startMilliseconds: 0,
  };
}

const sizes = { connections: 4, requests: 20 };

describe('a turn', () => {
  test('measures every operation of a right server', async () => {
    const samples = await turn(await running(), sizes);
    expect(Object.keys(samples)).toEqual(['convert', 'first use', 'authenticate', 'revoke']);
    for (const { throughput, p50, p99 } of Object.values(samples)) {
      expect(throughput).toBeGreaterThan(0);
      expect(p99).toBeGreaterThanOrEqual(p50);
    }
  });

  test('does not count where an answer is wrong', async () => {
    const wrong = await running(() => ({ revokeGrant: () => null }));
    await expect(turn(wrong, sizes)).rejects.toThrow(/^revoke was answered 404/);
  });

  test('does not count where a code is exchanged again', async () => {
    const wrong = await running((right) => {
      const made = new Map<string, Awaited<ReturnType<typeof right.redeemCode>>>();
      return {
        async redeemCode(redemption) {
          const grant = (await right.redeemCode(redemption)) ?? made.get(redemption.grant_id);
          if (grant) made.set(redemption.grant_id, grant);
          return grant ?? null;
        },
      };
    });
    await expect(turn(wrong, sizes)).rejects.toThrow(/let in again/);
  });

  test('does not count where a revoked grant is let in', async () => {
    const wrong = await running((right) => ({
      async revokeGrant({ grant_id }) {
        const found = await right.authenticateGrant(grant_id, { account: false });
        return found?.grant ?? null;
      },
    }));
    await expect(turn(wrong, sizes)).rejects.toThrow(/let in again/);
  });
});

describe('a connection', () => {
  test('reads answers with a length and in chunks, however they arrive', async () => {
    const text = 'ä'.repeat(300);
    const url = await serve((request, response) => {
      if (request.url === '/length') return response.end(text);
      // Each in a packet of its own, and one in the middle of a letter.
      const bytes = Buffer.from(text);
      response.write(bytes.subarray(0, 101));
      setTimeout(() => response.end(bytes.subarray(101)), 5);
    });
    const connection = await Connection.open(url);
    const ask = (path: string) => connection.send(encode(url, { method: 'GET', path }));
    expect(await ask('/length')).toEqual({ status: 200, body: text });
    expect(await ask('/chunks')).toEqual({ status: 200, body: text });
    expect(await ask('/length')).toEqual({ status: 200, body: text });
    connection.close();
  });
});
