import { createHash } from 'node:crypto';

/** By this a text of any length is found. */
export const hashText = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(createHash('sha256').update(text).digest());
