import { EventEmitter } from 'node:events';
import { CODE_LIFETIME } from '@latchkey/domain/lifetimes';
import type { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { EXPIRY_MARGIN, watchClocks } from '../src/clocks.ts';
import { indexesOf } from '../src/indexes.ts';

function watched() {
  const client = new EventEmitter();
  const warnings: string[] = [];
  const difference = watchClocks(
    client as unknown as MongoClient,
    (warning) => warnings.push(warning),
    () => 1_000_000,
  );
  const beat = (connectionId: string, ahead: number) =>
    client.emit('serverHeartbeatSucceeded', {
      connectionId,
      reply: { localTime: new Date(1_000_000 + ahead) },
    });
  return { client, warnings, difference, beat };
}

test('a difference of more than 2 s is warned of once', () => {
  const { warnings, difference, beat } = watched();
  for (const ahead of [0, 1_900, -2_000]) beat('a:1', ahead);
  expect(warnings).toEqual([]);
  for (const ahead of [61_000, 61_000, 61_000]) beat('a:1', ahead);
  beat('b:1', -90_000);
  beat('b:1', -90_000);
  expect(warnings).toEqual([
    expect.stringMatching(/^The clock of MongoDB at a:1 is 61 s ahead of that of this machine\./),
  ]);
  expect(difference()).toBe(-90_000);
});

test('a single heartbeat that was read late is no difference', () => {
  const { warnings, beat } = watched();
  for (const ahead of [0, -3_000, 0, -3_000, 0]) beat('a:1', ahead);
  expect(warnings).toEqual([]);
});

test('a member that left counts no more', () => {
  const { client, difference, beat } = watched();
  beat('a:1', 5_000);
  client.emit('serverClosed', { address: 'a:1' });
  expect(difference()).toBe(0);
});

test('a code outlives its lifetime in the database by the margin', () => {
  const expiry = indexesOf().grants?.find(({ name }) => name === 'grants_by_expiry');
  expect(expiry?.options.expireAfterSeconds).toBe(EXPIRY_MARGIN / 1000);
  expect(EXPIRY_MARGIN).toBeGreaterThanOrEqual(CODE_LIFETIME);
});
