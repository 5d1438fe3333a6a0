import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { listen } from '../listen.ts';
import { AtOnce } from './at-once.ts';
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
        const found = await right.authenticateGrant(grant_id, { currentAccount: false });
        return found?.account ? { ...found.grant, account: found.account } : null;
      },
    }));
    await expect(turn(wrong, sizes)).rejects.toThrow(/let in again/);
  });
});

describe('turns at once', () => {
  test('end together, so that no server is measured alone', async () => {
    const begun: string[] = [];
    // Tells each exchange, and takes some milliseconds for it.
    const server = (name: string, milliseconds: number) =>
      running((right) => ({
        async redeemCode(redemption) {
          begun.push(name);
          await sleep(milliseconds);
          return right.redeemCode(redemption);
        },
      }));
    const [fast, slow] = [await server('fast', 10), await server('slow', 100)];
    const issueLate = async (count: number) => {
      await sleep(250);
      return fast.issue(count);
    };
    const atOnce = new AtOnce(2);
    const [ofFast, ofSlow] = await Promise.all([
      turn({ ...fast, issue: issueLate }, { connections: 2, requests: 20 }, atOnce),
      turn(slow, { connections: 2, requests: 20 }, atOnce),
    ]);

    // They begin at once, though one has its codes later.
    expect(begun.slice(0, 4).sort()).toEqual(['fast', 'fast', 'slow', 'slow']);
    const exchanges = (name: string) => begun.filter((one) => one === name).length;
    // One more of each: the code that is sent again.
    expect(exchanges('fast')).toBe(21);
    expect(exchanges('slow')).toBeLessThan(20);
    // What the slow one was not sent is not counted, neither as its work nor as its failure.
    expect(ofSlow.revoke?.throughput).toBeGreaterThan(0);
    expect(Object.keys(ofFast)).toEqual(Object.keys(ofSlow));
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
