import { randomUUID } from 'node:crypto';
import { type credentialPrefixes, formatCredential } from '@latchkey/schema';

/** A well-formed credential that was never issued. */
export const unknownCredential = (
  kind: keyof typeof credentialPrefixes,
  id: string = randomUUID(),
): string => formatCredential(kind, id, crypto.getRandomValues(new Uint8Array(32)));
