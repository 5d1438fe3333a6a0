import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Adapter } from '@latchkey/store/adapter';
import type { ByHand } from '@latchkey/store/operations/by-hand';
import { operations } from '@latchkey/store/operations/operations';
import { withMistake } from '@latchkey/store-suite/planted-mistakes';
import { isLong } from '@latchkey/test-kit/long';
import { describe, expect, test } from 'vitest';

// Each run of the suite takes some seconds, and there are more than a hundred.

/**
 * On the others, the test runs first that has seen the mistake on the first. It may have seen there that an index is no
 * use without the condition, so if it passes, all run.
 */
const STORES = ['store-sqlite', 'store-postgresql', 'store-mongodb'];

/** One each line: a mistake that the suite does not see, and why: it changes no outcome, or only in a race that no test reaches. */
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

/** The first test of a store that fails with a mistake. Null if all pass. */
async function seenBy(store: string, mistake: string, title?: string): Promise<string | null> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-planted-'));
  const report = join(folder, 'report.json');
  const { TEST_ALL: _, TEST_LONG: __, ...env } = process.env;
  const words = ['run', '--project', store, 'store.test', 'between.test'];
  const only = title === undefined ? [] : ['-t', title.replace(/[^\w ]/g, '.')];
  const child = spawn(
    'vitest',
    [...words, ...only, '--bail=1', '--reporter=json', `--outputFile=${report}`],
    {
      env: { ...env, PLANTED_MISTAKE: mistake },
      stdio: 'ignore',
    },
  );
  await once(child, 'exit');
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as Report;
  await rm(folder, { recursive: true });
  const all = testResults.flatMap(({ assertionResults }) => assertionResults);
  if (
    title === undefined &&
    !all.some(({ status }) => status === 'passed' || status === 'failed')
  ) {
    throw new Error(`No test of ${store} ran.`);
  }
  return all.find(({ status }) => status === 'failed')?.title ?? null;
}

interface Report {
  testResults: { assertionResults: { status: string; title: string }[] }[];
}

/** The stores whose suite does not see a mistake. */
async function blindTo(mistake: string): Promise<string[]> {
  const [first = '', ...others] = STORES;
  const title = await seenBy(first, mistake);
  if (title === null) return [first];
  const blind: string[] = [];
  for (const store of others) {
    const seen = (await seenBy(store, mistake, title)) ?? (await seenBy(store, mistake));
    if (seen === null) blind.push(store);
  }
  return blind;
}

const notRun = isLong ? '' : ' (not run: npm run test:long has the time for it)';

describe.skipIf(!isLong)(`a condition of a write that is left out${notRun}`, () => {
  const mistakes = allMistakes();

  test('has a name of its own', () => {
    expect(mistakes.length).toBeGreaterThan(50);
    expect(new Set(mistakes).size).toBe(mistakes.length);
  });

  // A call without all of its condition is a greater mistake than without a part: it is seen if a part is.
  test('is seen of at least one key of each call', () => {
    const callOf = (mistake: string) => mistake.slice(mistake.indexOf(' of '));
    const unseen = new Set([...reviewed.keys()].map((survivor) => survivor.replace(/ on .*/, '')));
    const seen = new Set(mistakes.filter((one) => !unseen.has(one)).map(callOf));
    expect(mistakes.filter((one) => !seen.has(callOf(one)))).toEqual([]);
  });

  test('is seen by the suite, or changes no outcome', { timeout: 4 * 3_600_000 }, async () => {
    const left = [...mistakes];
    const survivors: string[] = [];
    const worker = async () => {
      for (let mistake = left.shift(); mistake !== undefined; mistake = left.shift()) {
        const blind = await blindTo(mistake);
        if (blind.length > 0) survivors.push(`${mistake} on ${blind.join(' and ')}`);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    expect(
      survivors.toSorted(),
      'Let the suite see the mistake, or say in survivors.txt why it does not',
    ).toEqual([...reviewed.keys()].toSorted());
  });
});
