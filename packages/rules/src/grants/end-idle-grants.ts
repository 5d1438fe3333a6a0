import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { isUnusedSince, type Store, unusedBefore } from '@latchkey/store/store';
import type { Audit } from '../audit/audit.ts';
import type { Counts } from '../summary/counts.ts';
import type { InSteps } from '../work/pace.ts';

export interface IdleGrants {
  /** The time of a use: that of the clock, unless that was set back. */
  timeOfUse(): Milliseconds;
  /** Ends the grants that are idle for sure: see decision 55. */
  end(): Promise<void>;
}

export interface IdleGrantsOptions {
  clock: Clock;
  /** Never set or corrected. It counts from an arbitrary moment. */
  monotonic: Clock;
  audit: Pick<Audit, 'ended'>;
  counts: Pick<Counts, 'add'>;
  inSteps: InSteps;
  onWarning(problem: string): void;
}

const HOUR: Milliseconds = 3_600_000;
const DAY: Milliseconds = 24 * HOUR;
// NTP sets a clock by far less.
const JUMP: Milliseconds = HOUR;
const PAGE = 100;

type Ending = Pick<
  Store,
  'newestGrantTime' | 'listApplications' | 'findApplication' | 'listGrants' | 'revokeGrant'
>;

export function createIdleGrants(
  store: Ending,
  { clock, monotonic, audit, counts, inSteps, onWarning }: IdleGrantsOptions,
): IdleGrants {
  // Each is a time less the monotonic clock, so it stays the same while time only passes.
  let clockSet = clock() - monotonic();
  let steady = clockSet;
  let newestRecord: Milliseconds | null = null;
  /** By the monotonic clock. */
  let waitsUntil = Number.NEGATIVE_INFINITY;

  function waitADay(problem: string): void {
    waitsUntil = monotonic() + DAY;
    onWarning(`${problem} No idle grant is revoked for a day. Let NTP keep the clock.`);
  }

  function lookAtClock(): void {
    const set = clock() - monotonic();
    const jump = set - clockSet;
    clockSet = set;
    if (Math.abs(jump) > JUMP) waitADay(`The clock jumped by ${Math.round(jump / 1_000)} s.`);
  }

  const isWaiting = () => monotonic() < waitsUntil;

  async function readNewest(): Promise<void> {
    const newest = await store.newestGrantTime();
    if (newest === null) return;
    newestRecord = newest - monotonic();
    if (newest - clock() <= JUMP) return;
    // Later than the clock if the clock was right at the start and has been set back since.
    steady = Math.max(steady, newestRecord);
    waitADay('The newest grant is from the future.');
  }

  async function endAll(): Promise<void> {
    lookAtClock();
    if (newestRecord === null) await readNewest();
    let before: string | null = null;
    do {
      const page = await store.listApplications({ limit: PAGE, before });
      for (const { id, idle_days } of page) {
        if (isWaiting()) return;
        if (idle_days !== null) await endOf(id);
      }
      before = page.length === PAGE ? (page.at(-1)?.id ?? null) : null;
    } while (before !== null);
  }

  async function endOf(application_id: string): Promise<void> {
    let before: string | null = null;
    await inSteps(async (limit) => {
      const page = await store.listGrants({ application_id }, { limit, before });
      // Read again for each page: a change applies from then on.
      const application = await store.findApplication(application_id);
      lookAtClock();
      if (application === null || newestRecord === null || isWaiting()) return false;
      const now = Math.min(clock(), newestRecord + monotonic());
      const unused_before = unusedBefore(application, now);
      if (unused_before === null) return false;
      const idle = page.filter(
        (grant) => grant.revoked_at === null && isUnusedSince(grant, unused_before),
      );
      await Promise.all(idle.map(({ grant_id }) => end(application_id, grant_id, unused_before)));
      before = page.at(-1)?.grant_id ?? null;
      return page.length === limit;
    });
  }

  async function end(application_id: string, grant_id: string, unused_before: Milliseconds) {
    const revoked = await store.revokeGrant({
      ...{ grant_id, application_id, onlyActive: true, unused_before },
      ...{ reason: 'idle', initiator: null, now: clock() },
    });
    if (revoked === null) return;
    audit.ended(revoked, 'idle', null);
    counts.add('revoked:idle');
  }

  return {
    timeOfUse() {
      const now = clock();
      const steadily = steady + monotonic();
      return steadily - now > JUMP ? steadily : now;
    },

    end: endAll,
  };
}
