/**
 * Everything on Latchkey's wire: the objects, the operations, the errors and the format of the
 * credentials. Runs wherever JavaScript runs.
 *
 * @module
 */

export * from './credential.ts';
export * from './errors.ts';
export * as inputs from './inputs.ts';
export * as objects from './objects.ts';
export * from './operations.ts';
export * from './timestamp.ts';
export type * from './types.ts';
export * from './uuid.ts';
