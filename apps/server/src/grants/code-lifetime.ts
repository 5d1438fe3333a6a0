import { uuidV7Time } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';

/** A code is good for 5 minutes from its issue (the grant interface, section 8). */
export const CODE_LIFETIME: Milliseconds = 300_000;

/**
 * When a code stops being good: its grant id, a UUIDv7, carries the time of its issue, so that this
 * is known without a record of it.
 *
 * @returns null where the id carries no time, which no id of ours does
 */
export function codeExpiry(grant_id: string): Milliseconds | null {
  const issued_at = uuidV7Time(grant_id);
  return issued_at === null ? null : issued_at + CODE_LIFETIME;
}
