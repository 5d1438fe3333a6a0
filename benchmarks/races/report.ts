import { table } from '../table.ts';
import { abuses } from './abuse.ts';
import type { Latency } from './latency.ts';
import type { RaceResult } from './race.ts';

/** All that was seen of one server at one latency. */
export interface Measured {
  server: string;
  latency: Latency;
  race: RaceResult;
  /** How many codes came through each abuse unharmed, in the order of `abuses`. */
  unharmed: number[];
}

/** The sizes of a run. */
export interface Sizes {
  /** Codes of a race. */
  codes: number;
  /** Calls at once for each of them. */
  redeemers: number;
  /** Codes of each abuse. */
  abused: number;
}

/** The two tables of a run, with what they count. */
export function report(measured: readonly Measured[], sizes: Sizes, conditions: string): string {
  const row = ({ server, latency }: Measured, cells: unknown[]) =>
    [server, `${latency} ms`, ...cells].map(String);
  const race = table([
    [
      'server',
      'store latency',
      'redeemed once',
      'more than once',
      'by nobody',
      'a grant works afterwards',
    ],
    ...measured.map((one) =>
      row(one, [one.race.once, one.race.moreThanOnce, one.race.noWinner, one.race.usable]),
    ),
  ]);
  const abuse = table([
    ['server', 'store latency', ...abuses.map(({ title }) => title)],
    ...measured.map((one) => row(one, one.unharmed)),
  ]);
  return `${conditions}

**The race.** ${sizes.codes} codes, one after the other; for each, ${sizes.redeemers} calls of its application at once. Of those
${sizes.codes} codes were:

${race}

**The abuse.** ${sizes.abused} fresh codes each. Of how many did the application notice nothing: the code still
worked, or the grant it had got for it?

${abuse}
`;
}
