import type { Milliseconds } from '@latchkey/domain/clock';
import type { DeliveryRecord } from '@latchkey/store/records';

const SECOND: Milliseconds = 1_000;
const MINUTE: Milliseconds = 60 * SECOND;
const HOUR: Milliseconds = 60 * MINUTE;

/** From the end of each try to the next one. */
const PAUSES: readonly Milliseconds[] = [
  ...[5 * SECOND, 5 * MINUTE, 30 * MINUTE],
  ...[2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR],
];
// So that deliveries that failed together are not tried together.
const JITTER = 0.1;

/**
 * When a delivery is tried again whose try has just failed. Null: it is given up. A ping has one try.
 *
 * @param retryAfterSeconds - what the receiver asked for
 * @param random - at least 0, less than 1
 */
export function nextAttemptAt(
  { type, tries }: Pick<DeliveryRecord, 'type' | 'tries'>,
  {
    now,
    retryAfterSeconds,
    random = Math.random(),
  }: { now: Milliseconds; retryAfterSeconds: number | null; random?: number },
): Milliseconds | null {
  const pause = type === 'ping' ? undefined : PAUSES[tries];
  if (pause === undefined) return null;
  const jittered = Math.round(pause * (1 + JITTER * (2 * random - 1)));
  return now + Math.max(jittered, (retryAfterSeconds ?? 0) * SECOND);
}
