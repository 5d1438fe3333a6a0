import { describe, inject, type TestOptions, test } from 'vitest';
// Declares the type of `inject`.
import type {} from '../global-setup.ts';
import { runsAll, slow } from '../long.ts';
import { urlFrom } from '../on-request.ts';
import type { Mongod } from './types.ts';

/** Runs a suite on the MongoDB of the tests, if there is one; it gets the URL of the server. */
export function describeOnMongodb(
  title: string,
  suite: (server: string) => void,
  options: TestOptions = {},
): void {
  const server = inject('mongodbUrl');
  if (server) describe(`${title} on MongoDB`, options, () => suite(server));
  else describe.skip(`${title} on MongoDB (not run: there is none)`, () => test('is the same'));
}

/** Runs a suite on the MongoDB of the tests; if slow tests run, also on a replica set of three. */
export function describeOnEachMongodb(title: string, suite: (server: string) => void): void {
  describeOnMongodb(title, suite);
  const request = inject('threeMembersUrl');
  if (request) describeOnThree(title, request, suite);
  else skipReplicaSets(`${title} on a replica set of three`);
}

function describeOnThree(title: string, request: string, suite: (server: string) => void): void {
  describe(`${title} on a replica set of three`, slow, async () => {
    // All suites share the set. It starts with the first request.
    if (runsAll) suite(await urlFrom(request));
    else test('is the same');
  });
}

/**
 * Runs a suite on the MongoDB of the tests; if slow tests run, on a replica set of three in its place, which breaks
 * whatever a single node breaks.
 */
export function describeOnLargestMongodb(title: string, suite: (server: string) => void): void {
  const request = inject('threeMembersUrl');
  if (runsAll && request) describeOnThree(title, request, suite);
  else describeOnMongodb(title, suite);
}

/** Runs a suite that starts replica sets of its own, to harm them. */
export function describeWithMongod(title: string, suite: (mongod: Mongod) => void): void {
  const mongod = inject('mongod');
  if (mongod) describe(`${title} on MongoDB`, () => suite(mongod));
  else skipReplicaSets(`${title} on MongoDB`);
}

function skipReplicaSets(title: string): void {
  const why = inject('mongodbUrl') ? 'the one of TEST_DATABASE_URL is not ours' : 'there is none';
  describe.skip(`${title} (not run: ${why})`, () => test('is the same'));
}
