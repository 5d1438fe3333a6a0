// A child process of counts-killed.test.ts. It counts on, and says what is written.

import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { openService } from '../../src/open-service.ts';

const url = process.env.DATABASE_URL ?? '';
const service = await openService(url, pino({ enabled: false }), { writeCountsEvery: 100 });
for (let counted = 1; ; counted += 1) {
  service.counts.grantCreated();
  await sleep(5);
  if (counted % 20 > 0) continue;
  // Every count that is older than a write.
  await sleep(500);
  process.send?.(counted);
}
