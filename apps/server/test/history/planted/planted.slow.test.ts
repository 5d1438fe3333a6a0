import { fileURLToPath } from 'node:url';
import { isLong, longer } from '@latchkey/test-kit/long';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../http/databases.ts';
import { check } from '../checker.ts';
import { runLoad } from '../run.ts';
import type { PlantName } from './plant.ts';

const script = fileURLToPath(new URL('./server.ts', import.meta.url));

// Without faults: those are for what a sound store has to survive. How often each is seen with so
// many codes is in the README.
const CODES = 70;

// A key lives for 0.2 s, so there are several for each code.
const CODES_WITH_KEYS = 10;

// Few codes wait while their account disconnects the application: 1 and 4 of 70.
const CODES_WITH_DISCONNECTIONS = 250;

// A code has about two messages, and the listener refuses every fifth at first.
const CODES_WITH_MESSAGES = 40;

/** The rules that each mistake must break. It may break others, too. The promises that all else stands on are first. */
const plants: [PlantName, string[], codes?: number][] = [
  ['read-then-write', ['one-success']],
  ['cached-authentication', ['revoked-is-dead']],
  ['cached-keys', ['deleted-key-is-dead'], CODES_WITH_KEYS],
  ['cached-records', ['latest-put-alone'], CODES_WITH_KEYS],
  ['cached-pins', ['latest-put-alone', 'put-is-there']],
  ['verifier-not-in-the-write', ['own-verifier-only']],
  ['resource-not-in-the-write', ['own-resource-only']],
  ['recovery-without-effect', ['recovered-is-dead']],
  ['erasure-of-the-account-alone', ['erased-is-dead']],
  ['codes-survive-a-disconnection', ['disconnected-is-dead'], CODES_WITH_DISCONNECTIONS],
  ['refused-is-delivered', ['every-change-is-told'], CODES_WITH_MESSAGES],
  ['creations-are-told-as-ends', ['told-is-done', 'told-end-is-final'], CODES_WITH_MESSAGES],
  ['enabled-is-told-as-disabled', ['every-switch-is-told'], CODES_WITH_KEYS],
  ['body-of-each-try', ['repeats-are-the-same'], CODES_WITH_MESSAGES],
];

// Each takes 20 s of the CPU. What they hold is the checker, and no promise of the service: all of them are for the
// night.
const options = { timeout: 600_000 };
const title = 'a store with the mistake %s is seen to break %s';
test.each(plants.slice(0, longer(2, plants.length)))(title, options, isSeen);

async function isSeen(plant: PlantName, rules: string[], codes?: number): Promise<void> {
  expect(await brokenBy(plant, { codes })).toEqual(expect.arrayContaining(rules));
}

/** @param of.ahead - how fast the clock of the second server is */
async function brokenBy(
  plant: PlantName,
  {
    codes = CODES,
    ahead = 0,
    seed = 1,
  }: { codes?: number | undefined; ahead?: number; seed?: number },
): Promise<string[]> {
  const { url: databaseUrl, remove } = await sqliteDatabase();
  onTestFinished(remove);
  const server = { script, environment: { PLANT: plant }, ahead };
  const { history } = await runLoad({ seed, databaseUrl, codes, faults: 0, server });
  return check(history).map(({ rule }) => rule);
}

const withClocks =
  'marks that order by time break marked-is-dead where a clock is %i ms ahead, and no others do';
// Any server may be the one that is ahead of the other, so the second is much like the first.
test.each(isLong ? [5_000, -5_000] : [5_000])(withClocks, options, isSeenByClocks);

async function isSeenByClocks(ahead: number): Promise<void> {
  const broken: string[] = [];
  // Whether a mark of one clock meets a grant of the other is up to chance: mostly in the first or the second load, but
  // on a busy machine once in none of four.
  for (let seed = 1; seed <= 12 && !broken.includes('marked-is-dead'); seed += 1) {
    broken.push(...(await brokenBy('marks-order-by-time', { ahead, seed })));
  }
  expect(broken).toContain('marked-is-dead');
  expect(await brokenBy('nothing', { ahead })).toEqual([]);
}

test(
  'a guard that takes the grants of any resource is seen to break own-resource-only',
  options,
  async () => {
    const { url: databaseUrl, remove } = await sqliteDatabase();
    onTestFinished(remove);
    const load = {
      seed: 1,
      databaseUrl,
      codes: 20,
      faults: 0,
      guard: 'takes-any-resource' as const,
    };
    const { history } = await runLoad(load);
    expect(check(history).map((violation) => violation.rule)).toContain('own-resource-only');
  },
);
