import { describe, inject, test } from 'vitest';

/** Runs a suite on the MongoDB of the tests, where there is one. */
export function describeOnMongodb(title: string, suite: (mongodb: string) => void): void {
  const url = inject('mongodbUrl');
  if (url) describe(`${title}, on MongoDB`, { timeout: 30_000 }, () => suite(url));
  else describe.skip(`${title}, on MongoDB (not run: there is none)`, () => test('is held'));
}
