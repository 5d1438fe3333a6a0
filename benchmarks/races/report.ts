import { type RowResult, rows } from '../../packages/race/src/index.ts';
import { markdownTable } from '../../packages/test-kit/src/markdown-table.ts';
import { LOAD } from './contender.ts';

export const RACE = 'race-pkce';
export const ABUSES = rows
  .map(({ id }) => id)
  .filter((id) => /^(?:wrong|no|other)-|^downgrade/.test(id));
export const REPLAYS = rows.map(({ id }) => id).filter((id) => id.startsWith('replay'));

/** What was measured of one server at one store latency. */
export interface Measurement {
  server: string;
  /** Milliseconds for each call of the store. */
  latency: number;
  rows: readonly RowResult[];
}

/** The tables of a run, in Markdown. */
export function report(measurements: readonly Measurement[], conditions: string): string {
  const table = (header: string[], cells: (results: Map<string, RowResult>) => unknown[]) =>
    markdownTable([
      ['server', 'store latency', ...header],
      ...measurements.map(({ server, latency, rows }) => {
        const results = new Map(rows.map((row) => [row.id, row]));
        return [server, `${latency} ms`, ...cells(results).map(String)];
      }),
    ]);
  const outcomes = ['once', 'once, then token revoked', 'more than once', 'never'];
  const raceTable = table(outcomes, (results) =>
    outcomes.map((outcome) => results.get(RACE)?.outcomes[outcome] ?? 0),
  );
  const titles = (ids: readonly string[]) =>
    rows.filter(({ id }) => ids.includes(id)).map(({ title }) => title);
  const count = (result: RowResult | undefined, harmless: readonly string[]) =>
    harmless.reduce((sum, outcome) => sum + (result?.outcomes[outcome] ?? 0), 0);
  const abuseTable = table(titles(ABUSES), (results) =>
    ABUSES.map((id) => count(results.get(id), ['refused', 'not issued'])),
  );
  const replayTable = table(titles(REPLAYS), (results) =>
    REPLAYS.map((id) => count(results.get(id), ['refused, token kept'])),
  );
  return `${conditions}

**The race.** ${LOAD.codes} codes, one after the other. For each code, its application sends ${LOAD.requests} concurrent
requests; to Latchkey, half of them over \`/oauth/convert\` and half over \`/oauth/token\`. Of the ${LOAD.codes}
codes were redeemed:

${raceTable}

**A failed attempt first.** 10 fresh codes for each kind. Somebody sends the code with one thing wrong,
or the application itself makes a mistake, before it sends everything right. The table counts the
codes that still worked. In the last column, it counts the codes that were refused, or never issued:

${abuseTable}

**A replay.** 10 fresh codes for each kind, sent again after the application has redeemed them. The table
counts the codes whose grant still worked:

${replayTable}
`;
}
