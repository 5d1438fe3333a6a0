import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import { type Abuse, abuses } from '../../packages/test-kit/src/races/abuse.ts';
import type { RaceResult } from '../../packages/test-kit/src/races/race.ts';

/** What was measured of one server at one store latency. */
export interface Measurement {
  server: string;
  /** Milliseconds for each call of the store. */
  latency: number;
  race: RaceResult;
  /** How many codes each abuse left unharmed, in the order of `abuses`. */
  unharmed: number[];
}

export interface Sizes {
  /** Codes of a race. */
  codes: number;
  /** Concurrent calls for each of them. */
  redeemers: number;
  /** Codes of each abuse. */
  abused: number;
}

/** The two tables of a run, in Markdown. */
export function report(
  measurements: readonly Measurement[],
  { codes, redeemers, abused }: Sizes,
  conditions: string,
): string {
  const row = ({ server, latency }: Measurement, cells: unknown[]) =>
    [server, `${latency} ms`, ...cells].map(String);
  const raceTable = markdownTable([
    [
      'server',
      'store latency',
      'redeemed once',
      'more than once',
      'never',
      'a grant works afterwards',
    ],
    ...measurements.map((one) =>
      row(one, [one.race.once, one.race.moreThanOnce, one.race.never, one.race.usable]),
    ),
  ]);
  const abuseTable = (when: Abuse['when']) => {
    const shown = abuses.filter((abuse) => abuse.when === when);
    return markdownTable([
      ['server', 'store latency', ...shown.map(({ title }) => title)],
      ...measurements.map((one) =>
        row(
          one,
          one.unharmed.filter((_, index) => abuses[index]?.when === when),
        ),
      ),
    ]);
  };
  return `${conditions}

**The race.** ${codes} codes, one after the other. For each code, its application sends ${redeemers} concurrent
requests; to Latchkey, half of them over \`/oauth/convert\` and half over \`/oauth/token\`. Of the ${codes}
codes were:

${raceTable}

**A failed attempt first.** ${abused} fresh codes for each kind. Somebody sends the code with something wrong,
or the application itself makes a mistake, before it sends everything right. The table counts the
codes that still worked. In the last column, it counts the codes that were refused, or never issued:

${abuseTable('before')}

**A replay.** ${abused} fresh codes for each kind, sent again after the application has redeemed them. The table
counts the codes whose grant still worked:

${abuseTable('after')}
`;
}
