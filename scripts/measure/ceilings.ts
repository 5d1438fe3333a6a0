/**
 * The most of the service that may run, or be loaded, for one thing, and the most files that somebody edits for a
 * change: `tests/measure.slow.test.ts` and `tests/price.test.ts` hold the service to it. A number rises only by a decision
 * record that says what the caller gets for it, as 0091 does; whatever makes it smaller lowers it.
 */
export const CEILINGS = {
  'convert on SQLite': { files: 38, functions: 138 },
  'convert on MongoDB': { files: 43, functions: 182 },
  'convert on PostgreSQL': { files: 43, functions: 171 },
  'linking flow': { files: 96, functions: 397 },
  'app create': { files: 82, functions: 345 },
  '--version': { modules: 16 },
  'add one read operation': { files: 6 },
  'add one optional member of an application': { files: 10 },
  'add a small record': { files: 12 },
} as const;
