import type { Clock } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { accounts } from './accounts.ts';
import { applications } from './applications.ts';
import type { ByHand } from './by-hand.ts';
import { codes } from './codes.ts';
import { commandChanges } from './command-changes.ts';
import { deliveries } from './deliveries.ts';
import { endpoints, endpointsInside } from './endpoints.ts';
import { grants } from './grants.ts';
import { keys } from './keys.ts';
import { links } from './links.ts';
import { logNumbers } from './log-numbers.ts';
import { pages } from './pages.ts';
import { refusals } from './refusals.ts';
import { resources } from './resources.ts';
import { scopes } from './scopes.ts';

/** What every store does in the same way. */
export function operations(db: Adapter, clock: Clock, byHand: ByHand) {
  const inside = endpointsInside(db);
  const { endTriesOf, ...ofEndpoints } = endpoints(db, clock, inside, byHand);
  return {
    ...accounts(db, clock, byHand),
    ...applications(db, byHand),
    ...ofEndpoints,
    ...deliveries(db, inside, { endTriesOf }, byHand),
    ...scopes(db, clock),
    ...resources(db),
    ...keys(db),
    ...codes(db),
    ...grants(db),
    ...links(db),
    ...pages(db),
    ...refusals(db),
    ...commandChanges(db),
    ...logNumbers(db),
  };
}
