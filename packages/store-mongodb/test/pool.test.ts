import { EventEmitter } from 'node:events';
import type { MongoClient } from 'mongodb';
import { expect, test } from 'vitest';
import { watchPool } from '../src/pool.ts';

test('follows the events of the driver', () => {
  const client = Object.assign(new EventEmitter(), { options: { maxPoolSize: 100 } });
  const pool = watchPool(client as unknown as MongoClient);
  const after = (...events: string[]) => {
    for (const event of events) client.emit(event);
    return pool();
  };
  const limit = 100;
  expect(pool()).toEqual({ inUse: 0, idle: 0, waiting: 0, limit });
  expect(after('connectionCheckOutStarted')).toEqual({ inUse: 0, idle: 0, waiting: 1, limit });
  expect(after('connectionCreated', 'connectionCheckedOut')).toEqual({
    inUse: 1,
    idle: 0,
    waiting: 0,
    limit,
  });
  expect(after('connectionCheckedIn')).toEqual({ inUse: 0, idle: 1, waiting: 0, limit });
  expect(
    after('connectionCheckOutStarted', 'connectionCheckOutFailed', 'connectionClosed'),
  ).toEqual({ inUse: 0, idle: 0, waiting: 0, limit });
});
