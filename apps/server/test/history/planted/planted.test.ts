import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../http/databases.ts';
import { check } from '../checker.ts';
import { runLoad } from '../run.ts';
import type { PlantName } from './plant.ts';

const script = fileURLToPath(new URL('./server.ts', import.meta.url));

// Without faults: those are for what a sound store has to survive. How often each is seen with so
// many codes is in the README.
const CODES = 70;

/** The rule that each mistake must break. It may break others, too. */
const plants: [PlantName, string][] = [
  ['read-then-write', 'one-success'],
  ['verifier-not-in-the-write', 'own-verifier-only'],
  ['cached-authentication', 'revoked-is-dead'],
  ['recovery-without-effect', 'recovered-is-dead'],
  ['erasure-of-the-account-alone', 'erased-is-dead'],
];

test.each(plants)(
  'a store with the mistake %s is seen to break %s',
  {
    timeout: 120_000,
  },
  async (plant, rule) => {
    const { url: databaseUrl, remove } = await sqliteDatabase();
    onTestFinished(remove);
    const server = { script, environment: { PLANT: plant } };
    const { history } = await runLoad({ seed: 1, databaseUrl, codes: CODES, faults: 0, server });
    const violations = check(history);
    const { byGrant } = await import('../grant-calls.ts');
    process.stderr.write(
      `${plant}: ${violations.filter((v) => v.rule === rule).length} of ${[...byGrant(history)].length}\n`,
    );
    expect(violations.map((violation) => violation.rule)).toContain(rule);
  },
);
