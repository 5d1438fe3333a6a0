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

const REPLIES = [0, 0, 0, 0, 0, 0];

test('a difference of more than 2 s is warned of once', () => {
  const { warnings, difference, beat } = watched();
  for (const ahead of [0, 1_900, -2_000, -1_900, 1_000, 0]) beat('a:1', ahead);
  expect(warnings).toEqual([]);
  for (const _ of REPLIES) beat('a:1', 61_000);
  for (const _ of REPLIES) beat('b:1', -90_000);
  expect(warnings).toEqual([
    expect.stringMatching(/^The clock of MongoDB at a:1 is 61 s ahead of that of this machine\./),
  ]);
  expect(difference()).toBe(-90_000);
});

test('of a clock that is behind too', () => {
  const { warnings, beat } = watched();
  for (const _ of REPLIES) beat('a:1', -3_000);
  expect(warnings).toEqual([expect.stringContaining('is 3 s behind that of this machine.')]);
});

test('heartbeats that were read late are no difference', () => {
  const { warnings, difference, beat } = watched();
  for (const ahead of [-3_000, -4_000, -9_000, -3_000, 0, -3_000, -3_000, -3_000]) {
    beat('a:1', ahead);
  }
  expect(warnings).toEqual([]);
  expect(difference()).toBe(0);
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
