import type { Milliseconds } from '../clock.ts';
import { DomainError } from '../domain-error.ts';

/** Of what may expire: a past time is a mistake of the caller. */
export function requireFuture(expires_at: Milliseconds | null, now: Milliseconds): void {
  if (expires_at === null || now < expires_at) return;
  throw DomainError.invalid(['expires_at'], 'Must lie in the future.');
}
