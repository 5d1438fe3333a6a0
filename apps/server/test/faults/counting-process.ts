// A child process of counts-killed.test.ts. It counts, says what is written, and counts on.

import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { openService } from '../../src/open-service.ts';

/** It says so when these are written, and counts fewer than as many again. */
const FIRST = 20;

// It stays until it is killed, or until nobody is left to kill it.
process.once('disconnect', () => process.exit());

const url = process.env.DATABASE_URL ?? '';
const service = await openService(url, pino({ enabled: false }), { writeCountsEvery: 100 });
for (let counted = 1; counted < 2 * FIRST; counted += 1) {
  service.counts.add('grants:created');
  await sleep(5);
  if (counted !== FIRST) continue;
  // Every count that is older than a write.
  await sleep(500);
  process.send?.(FIRST);
}
