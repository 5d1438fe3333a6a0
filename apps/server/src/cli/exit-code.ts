/** What the process's exit code says. */
export const exitCode = {
  done: 0,
  /** Refused, or failed: the reason is on stderr. */
  refused: 1,
  /** The command line or a setting is wrong. */
  badUsage: 2,
} as const;
