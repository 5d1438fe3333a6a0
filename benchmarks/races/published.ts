// Which findings about other projects stand on our pages. We publish none that its project has not: anything
// else is for its security contact first.
import type { RowResult } from '../../packages/race/src/index.ts';

/** A finding about a server that is public. */
export interface Finding {
  /** The name of the server in `servers.ts`. */
  server: string;
  /** The id of the row of `oauth-race` that shows it. */
  row: string;
  /** What happens to codes in that row. */
  outcome: string;
  /** The public thread of the project, or its documentation, that says so. */
  url: string;
}

export const findings: readonly Finding[] = [
  {
    server: 'fosite',
    row: 'race-pkce',
    outcome: 'more than once',
    url: 'https://github.com/ory/fosite/issues/778',
  },
  {
    server: 'Keycloak',
    row: 'race-pkce',
    outcome: 'more than once',
    url: 'https://github.com/keycloak/keycloak/issues/22448',
  },
];

/** How many codes of a row had which outcome, or what stands there instead. */
export type Cell = Record<string, number> | 'run it yourself';

/** What `oauth-race` measured of a server. */
export interface Measurement {
  server: string;
  store: string;
  versions: string;
  /** As in `2026-12-31`. */
  date: string;
  /** By the id of the row. */
  rows: Record<string, Cell>;
}

export const cellsOf = (results: readonly RowResult[]): Record<string, Cell> =>
  Object.fromEntries(results.map(({ id, outcomes }) => [id, outcomes]));

/**
 * What is right, what the standards recommend or leave to the server at nobody's cost, and what is wrong
 * without an opening for a stranger: others than the first of a race got a 500.
 */
const HARMLESS = new Set([
  'once',
  'once, then token revoked',
  'once, and others broken',
  'refused',
  'not issued',
  'not issued (error page)',
  'refused, token kept',
]);

export const isHarmless = (row: string, outcome: string): boolean =>
  HARMLESS.has(outcome) ||
  // RFC 6749, 4.1.2, recommends it if the client itself sends the code again.
  (row === 'replay' && outcome === 'refused, token revoked');

/** Where a finding is public. */
export const sourceOf = (server: string, row: string, outcome: string): string | undefined =>
  findings.find((one) => one.server === server && one.row === row && one.outcome === outcome)?.url;

/** What nobody may read on our pages first. */
export const unpublished = ({ server, rows }: Measurement): string[] =>
  Object.entries(rows).flatMap(([row, cell]) =>
    typeof cell === 'object' &&
    Object.keys(cell).some(
      (outcome) => !isHarmless(row, outcome) && sourceOf(server, row, outcome) === undefined,
    )
      ? [row]
      : [],
  );

/**
 * A measurement without what is not public.
 *
 * @param earlier - of the same server: what it withheld stays withheld, since a later run of a race may
 *   only have been lucky
 */
export function publishable(measurement: Measurement, earlier?: Measurement): Measurement {
  const stands = earlier?.versions === measurement.versions ? Object.entries(earlier.rows) : [];
  const kept = stands.flatMap(([row, cell]) => (cell === 'run it yourself' ? [row] : []));
  const withheld = [...unpublished(measurement), ...kept].map((row) => [row, 'run it yourself']);
  return { ...measurement, rows: { ...measurement.rows, ...Object.fromEntries(withheld) } };
}
