import { fileURLToPath } from 'node:url';
import { slow } from '@latchkey/test-kit/long';
import { expect, onTestFinished, test } from 'vitest';
import { sqliteDatabase } from '../../http/databases.ts';
import type { PlantName } from '../planted/plant.ts';
import { isDone, type LinkOperation } from './calls.ts';
import { findContradictions } from './one-order.ts';
import { runLinks } from './run-links.ts';

const script = fileURLToPath(new URL('../planted/server.ts', import.meta.url));

const DECISIONS = 30;
const TRIES = 8;

/** The calls of which one is told to be done in each, and can't be. */
const plants: [PlantName, LinkOperation[]][] = [
  ['pages-outlive-their-end', ['open', 'show', 'approve', 'deny']],
];
const morePlants: [PlantName, LinkOperation[]][] = [
  ['codes-survive-a-disconnection', ['token', 'approve', 'use']],
  ['enabling-revives', ['identify', 'open', 'show', 'approve', 'deny', 'token']],
  ['lost-denial-is-told', ['deny']],
  ['lost-approval-is-told', ['approve', 'token']],
  ['approval-of-anybody', ['approve']],
];

const options = { timeout: 600_000 };
const title = 'links of a store with the mistake %s are seen to contradict themselves';
test.each(plants)(title, options, isSeen);
test.each(morePlants)(title, { ...options, ...slow }, isSeen);

async function isSeen(plant: PlantName, operations: LinkOperation[]): Promise<void> {
  const { url: databaseUrl, remove } = await sqliteDatabase();
  onTestFinished(remove);
  const server = { script, environment: { PLANT: plant } };
  const servers = { A: server, B: server };
  // A decision that is lost to another one is rare where there is little time. What follows from a
  // mistake, such as the use of a code that should not be, can fit nowhere either.
  let misfits: LinkOperation[] = [];
  for (let seed = 1; misfits.length === 0 && seed <= TRIES; seed++) {
    const { history } = await runLinks({ seed, databaseUrl, decisions: DECISIONS, servers });
    const contradictions = findContradictions(history).map(({ call }) => call);
    const done = contradictions.filter(isDone).map(({ operation }) => operation);
    misfits = done.filter((operation) => operations.includes(operation));
  }
  expect(misfits).not.toEqual([]);
}
