/** In milliseconds. */
export interface Timeouts {
  /** For a connection: a new one, or a free one of the pool. */
  connect: number;
  /** For a statement, its commit on the standby included. */
  operation: number;
  /** How long the outcome of a lost write is looked for. */
  outcome: number;
  indexCheck: number;
}

export const defaultTimeouts: Timeouts = {
  // A request should fail soon while the database is down; a client that can wait retries.
  connect: 3_000,
  operation: 5_000,
  // A standby is promoted within about 10 s.
  outcome: 10_000,
  indexCheck: 60_000,
};
