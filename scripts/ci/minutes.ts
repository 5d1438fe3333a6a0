/**
 * The minutes of the clock that each part of `.ci/run` should not exceed. When these were set, they took 1.8, 1.6, 2.8,
 * 9.5, 1.2 and 14.3, on two cores with nothing else to do.
 */
export const BUDGETS = {
  check: 3,
  rehearsal: 3,
  clients: 4,
  stores: 11,
  browsers: 2,
  'the rest': 18,
};

export type Part = keyof typeof BUDGETS;

/** The part of a test file. */
function partOf(path: string): Part {
  if (/^packages\/store|^apps\/server\/test\/(store|faults|history|two-servers)\//.test(path)) {
    return 'stores';
  }
  return path.startsWith('apps/server/test/browser/') ? 'browsers' : 'the rest';
}

/**
 * The lines that say what each part took, and which part is over its budget.
 *
 * @param earlier - a line for each part before the tests: its name and its seconds, as `time` of bash says them: of
 *   the clock, user, system
 * @param files - the test files, which ran side by side, and what each of them took
 * @param clock - the seconds that they took together. Each part has its share
 */
export function minutesOfParts(
  earlier: string,
  files: readonly { path: string; seconds: number }[],
  clock: number,
): string[] {
  const taken = new Map<Part, number>();
  const cpu = new Map<Part, number>();
  for (const line of earlier.split('\n').filter(Boolean)) {
    const [name, real, user, system] = line.split(' ');
    taken.set(name as Part, Number(real));
    cpu.set(name as Part, Number(user) + Number(system));
  }
  const whole = files.reduce((sum, { seconds }) => sum + seconds, 0);
  for (const { path, seconds } of files) {
    const part = partOf(path);
    taken.set(part, (taken.get(part) ?? 0) + (clock * seconds) / whole);
  }

  const parts = (Object.keys(BUDGETS) as Part[]).filter((part) => taken.has(part));
  const lines = parts.map((part) => {
    const ofCpu = cpu.has(part) ? `, ${minutes(cpu.get(part))} of the CPU` : '';
    return `${part.padEnd(10)}${minutes(taken.get(part))} of ${BUDGETS[part]} minutes${ofCpu}`;
  });
  const over = parts.filter((part) => (taken.get(part) ?? 0) > 60 * BUDGETS[part]);
  if (over.length > 0) {
    lines.push(
      `OVER BUDGET: ${over.join(', ')}. If the machine was not busy with something else, make a test cheaper, ` +
        'or raise BUDGETS in scripts/ci/minutes.ts',
    );
  }
  return lines;
}

const minutes = (seconds = 0) => (seconds / 60).toFixed(1).padStart(5);
