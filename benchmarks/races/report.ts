import { rows } from '../../packages/race/src/index.ts';
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import { LOAD } from './contender.ts';
import { type Cell, type Measurement, sourceOf } from './published.ts';

export const RACE = 'race-pkce';
export const ABUSES = rows
  .map(({ id }) => id)
  .filter((id) => /^(?:wrong|no|other)-|^downgrade/.test(id));
export const REPLAYS = rows.map(({ id }) => id).filter((id) => id.startsWith('replay'));

/** In every table, also if no server has them. */
const OUTCOMES = ['once', 'once, then token revoked', 'more than once', 'never'];

/** The tables of a run, in Markdown. A number of a finding links to where that is public. */
export function report(measurements: readonly Measurement[]): string {
  const table = (header: readonly string[], cells: (measurement: Measurement) => string[]) =>
    markdownTable([
      ['server', 'store', ...header],
      ...measurements.map((one) => [one.server, one.store, ...cells(one)]),
    ]);
  // A number that is a finding links to where that is public.
  const linked = ({ server }: Measurement, row: string, outcomes: string[], count: number) => {
    const source = outcomes.map((outcome) => sourceOf(server, row, outcome)).find(Boolean);
    return source === undefined ? `${count}` : `[${count}](${source})`;
  };

  const seen = measurements.flatMap(({ rows }) => Object.keys(countsOf(rows[RACE])));
  const outcomes = [...new Set([...OUTCOMES, ...seen])];
  const raceTable = table(outcomes, (measurement) => {
    const cell = measurement.rows[RACE] ?? {};
    if (typeof cell === 'string') return outcomes.map((_, index) => (index === 0 ? cell : '–'));
    return outcomes.map((outcome) => {
      const count = cell[outcome] ?? 0;
      return count === 0 ? '0' : linked(measurement, RACE, [outcome], count);
    });
  });

  const titles = (ids: readonly string[]) =>
    rows.filter(({ id }) => ids.includes(id)).map(({ title }) => title);
  const counting = (ids: readonly string[], good: readonly string[]) =>
    table(titles(ids), (measurement) =>
      ids.map((id) => {
        const cell = measurement.rows[id] ?? {};
        if (typeof cell === 'string') return cell;
        const count = good.reduce((sum, outcome) => sum + (cell[outcome] ?? 0), 0);
        return linked(measurement, id, Object.keys(cell), count);
      }),
    );

  return `${markdownTable([
    ['server', 'store', 'versions', 'measured on'],
    ...measurements.map(({ server, store, versions, date }) => [server, store, versions, date]),
  ])}

**The race.** ${LOAD.codes} codes, one after the other. For each code, its application sends ${LOAD.requests} concurrent
requests; to Latchkey, half of them over \`/oauth/convert\` and half over \`/oauth/token\`. Of the ${LOAD.codes}
codes were redeemed:

${raceTable}

**A failed attempt first.** 10 fresh codes for each kind. Somebody sends the code with one thing wrong,
or the application itself makes a mistake, before it sends everything right. The table counts the
codes that still worked. In the last column, it counts the codes that were refused, or never issued:

${counting(ABUSES, ['refused', 'not issued', 'not issued (error page)'])}

**A replay.** 10 fresh codes for each kind, sent again after the application has redeemed them. The table
counts the codes whose grant still worked:

${counting(REPLAYS, ['refused, token kept'])}
`;
}

const countsOf = (cell: Cell | undefined) => (typeof cell === 'object' ? cell : {});
