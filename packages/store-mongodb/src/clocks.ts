import type { Milliseconds } from '@latchkey/domain/clock';
import type { MongoClient } from 'mongodb';

/** MongoDB deletes an expired code this much later: its clock may be ahead of that of the service. */
export const EXPIRY_MARGIN: Milliseconds = 600_000;

// NTP keeps clocks within a second of each other. Far less than EXPIRY_MARGIN.
const TOLERATED: Milliseconds = 2_000;

// A minute of them. One that this busy process reads late looks like a clock that is behind, so that of the clock which
// is furthest ahead was read soonest.
const REPLIES = 6;

/**
 * Compares the clock of each member with that of this machine. Call it before the client connects.
 *
 * @returns the difference of the member that differs most; positive if it is ahead
 */
export function watchClocks(
  client: MongoClient,
  onWarning: (problem: string) => void = () => undefined,
  clock = Date.now,
): () => Milliseconds {
  /** Of the latest replies. */
  const differences = new Map<string, Milliseconds[]>();
  let hasWarned = false;
  client.on('serverHeartbeatSucceeded', ({ connectionId: address, reply: { localTime } }) => {
    if (!(localTime instanceof Date)) return;
    const replies = [...(differences.get(address) ?? []), localTime.getTime() - clock()];
    const latest = replies.slice(-REPLIES);
    differences.set(address, latest);
    const difference = Math.max(...latest);
    const isSteady = latest.length === REPLIES && Math.abs(difference) > TOLERATED;
    if (hasWarned || !isSteady) return;
    hasWarned = true;
    const seconds = Math.round(Math.abs(difference) / 1000);
    onWarning(
      `The clock of MongoDB at ${address} is ${seconds} s ${difference > 0 ? 'ahead of' : 'behind'} that of this machine. Let NTP keep both: if it is more than ${EXPIRY_MARGIN / 1000} s ahead, codes are deleted before they expire.`,
    );
  });
  client.on('serverClosed', ({ address }) => differences.delete(address));
  return () =>
    [...differences.values()]
      .map((latest) => Math.max(...latest))
      .reduce((most, one) => (Math.abs(one) > Math.abs(most) ? one : most), 0);
}
