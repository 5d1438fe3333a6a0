import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import type { Housekeeping } from '../inputs.ts';
import { accounts } from './accounts.ts';
import { applications } from './applications.ts';
import type { ByHand } from './by-hand.ts';
import { clientDocuments } from './client-documents.ts';
import { codes } from './codes.ts';
import { commandChanges } from './command-changes.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, endpointsInside } from './endpoints.ts';
import { events } from './events.ts';
import { grants } from './grants.ts';
import { keys } from './keys.ts';
import { leases } from './leases.ts';
import { links } from './links.ts';
import { logNumbers } from './log-numbers.ts';
import { marksInside } from './marks.ts';
import { namesInside } from './names.ts';
import { pages } from './pages.ts';
import { reduction } from './reduction.ts';
import { refusals } from './refusals.ts';
import { resources } from './resources.ts';
import { scopes } from './scopes.ts';
import { trials } from './trials.ts';
import { work } from './work.ts';

interface HousekeepingOptions {
  /** REVOKED_GRANT_DAYS. Null: no grant is reduced. */
  days?: number | null;
  /** Default: true. */
  sweepsEndpoints?: boolean;
}

/** What every store does in the same way. */
export function operations(
  db: Adapter,
  clock: Clock,
  byHand: ByHand,
  { days = null, sweepsEndpoints = true }: HousekeepingOptions = {},
) {
  const inside = endpointsInside(db);
  const marks = marksInside(db);
  const names = namesInside(db, marks);
  const { connectedSome, ...ofGrants } = grants(db, marks);
  const makeDeliveries = events(db, inside, names, { connectedSome });
  /** Whether events may be left that were acknowledged before the call. */
  const tellSome = () => makeDeliveries(clock(), { isDecisive: true });
  /** Makes deliveries of every event that was acknowledged before the call. */
  async function tell(): Promise<void> {
    while (await tellSome()) {
      // In parts, so that requests run in between.
    }
  }
  const { operations: ofWork, ...completing } = work(db, marks, {
    ...{ tell: tellSome, emptyLog: byHand.emptyLog },
  });
  const { endTriesOf, sweepEndpoints, ...ofEndpoints } = endpoints(db, clock, inside, byHand, tell);
  const { sweepExpired } = byHand;
  const housekeeping: readonly Housekeeping[] = [
    ...(sweepExpired ? [{ name: 'expired', step: sweepExpired }] : []),
    ...(days === null ? [] : [{ name: 'reduction', step: reduction(db, days, tell) }]),
    ...(sweepsEndpoints ? [{ name: 'endpoints', step: sweepEndpoints }] : []),
  ];
  return {
    /** Removes what has expired, and reduces revoked grants. */
    housekeeping,
    ...accounts(db, clock, completing),
    ...ofWork,
    ...leases(db),
    ...trials(db),
    ...applications(db, completing.finish),
    ...ofEndpoints,

    /**
     * Makes deliveries of some events that were recorded, the oldest and the newest in turn. May be repeated, and run in
     * several processes: a delivery is made once.
     *
     * @param mayMake - asked if there is something to make; if not, nothing is made. Default: yes
     * @returns whether there may be more
     */
    makeDeliveries: (now: Milliseconds, mayMake?: () => Promise<boolean>) =>
      makeDeliveries(now, { mayMake }),
    ...deliveries(db, inside, { endTriesOf }, byHand, names, { tell, tellSome }),
    ...scopes(db, clock),
    ...resources(db),
    ...clientDocuments(db),
    ...keys(db),
    ...codes(db, marks),
    ...ofGrants,
    ...links(db),
    ...pages(db),
    ...refusals(db),
    ...commandChanges(db),
    ...logNumbers(db),
  };
}
