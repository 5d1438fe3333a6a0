import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import type { Adapter } from '@latchkey/store/adapter';
import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations } from '@latchkey/store/operations/operations';
import { withMistake } from '@latchkey/store-suite/planted-mistakes';
import { isLong } from '@latchkey/test-kit/long';
import { describe, expect, test } from 'vitest';

// Each run of the suite takes some seconds, and there are more than a hundred.

/** One each line: a mistake that the suite does not see, and why it changes no outcome. */
const reviewed = new Map(
  readFileSync(new URL('survivors.txt', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(': ') as [string, string]),
);

function allMistakes(): string[] {
  const mistakes: string[] = [];
  const none = new Proxy({} as Adapter, {
    get: (_, name) => (name === 'sequence' ? sequence : call),
  });
  const call = () => () => undefined;
  const sequence: Adapter['sequence'] = (steps) => {
    steps(none as never);
    return call() as never;
  };
  const db = withMistake(none, null, (name) => mistakes.push(name));
  operations(db, Date.now, {} as ByHand);
  return mistakes;
}

async function isSeen(mistake: string): Promise<boolean> {
  const words = ['run', '--project', 'store-sqlite', 'test/sqlite-store', '--bail', '1'];
  const child = spawn('vitest', words, {
    env: { ...process.env, PLANTED_MISTAKE: mistake },
    stdio: 'ignore',
  });
  return new Promise((resolve) => child.on('exit', (code) => resolve(code !== 0)));
}

const notRun = isLong ? '' : ' (not run: npm run test:long has the time for it)';

describe.skipIf(!isLong)(`a condition of a write that is left out${notRun}`, () => {
  const mistakes = allMistakes();

  test('has a name of its own', () => {
    expect(mistakes.length).toBeGreaterThan(50);
    expect(new Set(mistakes).size).toBe(mistakes.length);
  });

  test('is seen by the suite, or changes no outcome', { timeout: 4 * 3_600_000 }, async () => {
    const left = [...mistakes];
    const survivors: string[] = [];
    const worker = async () => {
      for (let mistake = left.shift(); mistake !== undefined; mistake = left.shift()) {
        if (!(await isSeen(mistake))) survivors.push(mistake);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    expect(
      survivors.toSorted(),
      'Let the suite see the mistake, or say in survivors.txt why it changes no outcome',
    ).toEqual([...reviewed.keys()].toSorted());
  });
});
