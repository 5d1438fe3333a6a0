import { newId } from '../credentials/credentials.ts';

const SHAPE = /^[A-Za-z0-9._-]{1,128}$/;

/** The caller's request id where it is well formed, a new one of ours otherwise. */
export function requestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && SHAPE.test(header) ? header : newId(Date.now());
}
