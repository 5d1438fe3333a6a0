// Which findings about other projects stand on our pages. We publish none that its project has not: anything
// else is for its security contact first.
import type { RowResult } from '../../packages/race/src/index.ts';

/** A finding about a server that is public. */
export interface Finding {
  /** The name of the server in `servers.ts`. */
  server: string;
  /** The rows of `oauth-race` that show it. */
  rows: readonly string[];
  /** The public thread of the project, or its documentation, that says so. */
  url: string;
}

export const findings: readonly Finding[] = [
  {
    // It is built on oauthlib, whose thread it is.
    server: 'Django OAuth Toolkit',
    rows: ['race-pkce'],
    url: 'https://github.com/oauthlib/oauthlib/issues/618',
  },
  {
    server: 'fosite',
    rows: ['race-pkce'],
    url: 'https://github.com/ory/fosite/issues/778',
  },
  {
    server: 'Spring Authorization Server',
    rows: ['race-pkce'],
    url: 'https://github.com/spring-attic/spring-authorization-server/issues/1444',
  },
  {
    server: 'Keycloak',
    rows: ['race-pkce'],
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

/** What is right, and what the standards recommend or leave to the server at nobody's cost. */
const HARMLESS = new Set([
  'once',
  'once, then token revoked',
  'refused',
  'not issued',
  'refused, token kept',
]);

/** Whether nobody would call it a fault, or an opening for a stranger. */
export const isHarmless = (row: string, outcomes: Record<string, number>): boolean =>
  Object.keys(outcomes).every(
    (outcome) =>
      HARMLESS.has(outcome) ||
      // RFC 6749, 4.1.2, recommends it if the client itself sends the code again.
      (row === 'replay' && outcome === 'refused, token revoked'),
  );

/** Where a finding of a row is public. */
export const sourceOf = (server: string, row: string): string | undefined =>
  findings.find((finding) => finding.server === server && finding.rows.includes(row))?.url;

/** A measurement without what is not public. */
export function publishable(measurement: Measurement): Measurement {
  const { server, rows } = measurement;
  const cells = Object.entries(rows).map(([row, cell]) => {
    const isShown =
      typeof cell === 'string' || isHarmless(row, cell) || sourceOf(server, row) !== undefined;
    return [row, isShown ? cell : 'run it yourself'];
  });
  return { ...measurement, rows: Object.fromEntries(cells) };
}
