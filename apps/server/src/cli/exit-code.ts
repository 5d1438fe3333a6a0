export const exitCode = {
  done: 0,
  refused: 1,
  badUsage: 2,
  /** `serve` cannot start, and a restart would not help. 78 is EX_CONFIG of sysexits.h. */
  cannotStart: 78,
} as const;
