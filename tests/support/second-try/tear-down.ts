import { failAtFirst } from './attempts.ts';

/** Fails after all tests, once, if it is told to. */
export function teardown(): void {
  if (process.env.TEAR_DOWN === 'fails') failAtFirst('tear-down', 1);
}
