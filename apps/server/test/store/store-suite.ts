import { afterAll, beforeAll, describe } from 'vitest';
import { describeAccounts } from './suite/accounts.ts';
import { describeApplications } from './suite/applications.ts';
import { describeBindings } from './suite/bindings.ts';
import { describeCodes } from './suite/codes.ts';
import { describeCommandChanges } from './suite/command-changes.ts';
import { describeConnections } from './suite/connections.ts';
import { describeCounts } from './suite/counts.ts';
import { describeCrashes } from './suite/crashes.ts';
import { describeDeletion } from './suite/deletion.ts';
import { describeDocumented } from './suite/documented.ts';
import { describeEndpoints } from './suite/endpoints.ts';
import { describeErasure } from './suite/erasure.ts';
import { describeEvents } from './suite/events.ts';
import { describeGrants } from './suite/grants.ts';
import { type StoreHarness, SuiteStores } from './suite/harness.ts';
import { describeHistory } from './suite/history.ts';
import { describeKeys } from './suite/keys.ts';
import { describeLifecycle } from './suite/lifecycle.ts';
import { describeLinks } from './suite/links.ts';
import { describeLists } from './suite/lists.ts';
import { describeLogNumbers } from './suite/log-numbers.ts';
import { describeModel } from './suite/model.ts';
import { describePages } from './suite/pages.ts';
import { describeRaces } from './suite/races.ts';
import { describeRateLimits } from './suite/rate-limits.ts';
import { describeRefusals } from './suite/refusals.ts';
import { describeResources } from './suite/resources.ts';
import { describeRevokedGrantDays } from './suite/revoked-grant-days.ts';
import { describeScopes } from './suite/scopes.ts';
import { describeSweep } from './suite/sweep.ts';
import { describeTexts } from './suite/texts.ts';

/**
 * Tests every promise of the {@link Store} port. An adapter is correct if this passes unchanged.
 *
 * @param name - the adapter, for the report
 * @param harness - creates its databases
 */
export function describeStore(name: string, harness: StoreHarness): void {
  describe(`${name} keeps the promises of the store`, () => {
    const stores = new SuiteStores(harness);
    beforeAll(() => stores.start());
    afterAll(() => stores.stop());

    describeApplications(stores);
    describeDocumented(stores);
    describeAccounts(stores);
    describeErasure(stores);
    describeDeletion(stores);
    describeTexts(stores);
    describeScopes(stores);
    describeResources(stores);
    describeKeys(stores);
    describeLinks(stores);
    describePages(stores);
    describeCodes(stores);
    describeBindings(stores);
    describeGrants(stores);
    describeConnections(stores);
    describeHistory(stores);
    describeEndpoints(stores);
    describeEvents(stores);
    describeRefusals(stores);
    describeCommandChanges(stores);
    describeLogNumbers(stores);
    describeLists(stores);
    describeRateLimits(stores);
    describeCounts(stores);
    describeSweep(stores);
    describeRevokedGrantDays(stores);
    describeModel(stores);
    describeRaces(stores);
    describeCrashes(stores);
    describeLifecycle(stores);
  });
}
