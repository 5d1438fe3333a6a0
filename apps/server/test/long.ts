/** Whether the tests run in their long form (`npm run test:long`). */
const isLong = process.env.TEST_LONG === '1';

/** The size of a test (rounds, connections, milliseconds), in its short and in its long form. */
export function longer(short: number, long: number): number {
  return isLong ? long : short;
}
