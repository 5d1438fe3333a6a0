import type { OperationInput, OperationName } from '@latchkey/schema';
import type { World } from './world.ts';

/** What the tests know of an operation. */
export interface OperationCase<Name extends OperationName> {
  /** A valid input with all of its members. Of those that exclude each other, it has one. */
  input(world: World): OperationInput<Name>;
}

/** The cases of the operations whose names begin like that: none of them can be missing. */
export type Cases<Prefix extends string> = {
  [Name in OperationName & `${Prefix}${string}`]: OperationCase<Name>;
};

/** The members of a page of a list, and an address that an application has. */
export const page = { limit: 1, cursor: 'A'.repeat(22) };
export const ADDRESS = 'https://app.example/cb';
export const SINCE = '2026-11-21T02:15:30Z';
