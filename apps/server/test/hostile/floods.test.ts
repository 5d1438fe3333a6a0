import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { longer, runsAll, slow } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqliteDatabase, type TestDatabase } from '../http/databases.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { ServerProcess } from '../http/served-process.ts';
import type { Flood } from './flood-process.ts';

// A few kilobytes can't stop the service: 50 connections flood it without credentials, its heap is
// 128 MB, and it serves others at the same time.

const FLOOD_MS = runsAll ? longer(5_000, 30_000) : 2_000;
const FLOOD_BYTES = 1_000_000;
const script = fileURLToPath(new URL('./flood-process.ts', import.meta.url));

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const names = (count: number) => Array(count).fill('grants.revoke').join(',');

const floods: Record<string, Omit<Flood, 'url' | 'connections'>> = {
  'batches of 16 calls': { requests: post(`/trpc/${names(16)}?batch=1`, '{}'), reads: true },
  'pipelined requests for the largest document': {
    requests: get('/openapi.json').repeat(1_200),
    reads: false,
  },
  'pipelined requests of the smallest size': { requests: get('/').repeat(2_400), reads: true },
};

/** The most expensive one: the service works on each of its calls. */
const EVERYDAY = 'batches of 16 calls';

describe.each(Object.entries(floods))('a flood of %s', (title, flood) => {
  let database: TestDatabase;
  let server: ServerProcess;
  let linked: LinkedApplication;
  beforeAll(async () => {
    database = await sqliteDatabase();
    const environment = { NODE_OPTIONS: '--max-old-space-size=128' };
    server = await ServerProcess.start(database.url, { environment });
    linked = await linkedApplication(server);
  });
  afterAll(async () => {
    expect(await server.stop()).toBe(0);
    await database.remove();
  });

  const options = { ...(title === EVERYDAY ? {} : slow), timeout: FLOOD_MS + 120_000 };
  test('does not stop the service from serving others', options, async () => {
    const flooder = fork(script);
    flooder.send({ url: server.url, connections: 50, ...flood } satisfies Flood);
    let sent = 0;
    flooder.on('message', (bytes) => {
      sent = Number(bytes);
    });
    try {
      await once(flooder, 'message');
      const until = Date.now() + FLOOD_MS;
      do {
        expect(await linked.link()).toMatchObject({ revoked: false });
      } while (Date.now() < until || sent < FLOOD_BYTES);
    } finally {
      flooder.kill('SIGKILL');
    }
  });
});
