import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeViolation, type Violation } from './checker.ts';
import type { RunResult } from './run.ts';

const MOST_SHOWN = 5;

/**
 * What a person needs who finds a run failed: how to repeat it, the calls that prove what is wrong,
 * and where all the others are.
 *
 * @param rerun - the command
 */
export async function reportViolations(
  violations: readonly Violation[],
  result: RunResult,
  rerun: string,
): Promise<string> {
  const more = violations.length - MOST_SHOWN;
  return [
    `The history has what can't be, ${violations.length} times.`,
    ...violations.slice(0, MOST_SHOWN).map(describeViolation),
    ...(more > 0 ? [`and ${more} more`] : []),
    await keepHistory(result),
    `The same load again (its timing is the machine's, so it may take a few runs): ${rerun}`,
  ].join('\n\n');
}

/** Writes a history and the log of the servers to a folder, and says which. */
export async function keepHistory({
  history,
  log,
}: {
  history: readonly object[];
  log: string;
}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-history-'));
  await writeFile(join(folder, 'servers.log'), log);
  await writeFile(
    join(folder, 'history.jsonl'),
    history.map((call) => `${JSON.stringify(call)}\n`).join(''),
  );
  return `All ${history.length} calls, without credentials, and the log of the servers: ${folder}`;
}
