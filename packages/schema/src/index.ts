/**
 * The wire format of Latchkey: objects, operations, errors and credentials. Runs on any JavaScript
 * runtime.
 *
 * @module
 */

export type * from './caller.ts';
export {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialHint,
  credentialParts,
  credentialPattern,
  credentialPrefixes,
  formatCredential,
  parseCredential,
} from './credential.ts';
export * from './errors.ts';
export * from './event-types.ts';
export * as events from './events.ts';
export * as fields from './fields.ts';
export * as inputs from './inputs.ts';
export * from './navigation.ts';
export * from './nearest-name.ts';
export * as objects from './objects.ts';
export * from './operations.ts';
export { resourceAddress } from './resource-address.ts';
export * from './timestamp.ts';
export type * from './types.ts';
export * as uris from './uris.ts';
export * from './uuid.ts';
