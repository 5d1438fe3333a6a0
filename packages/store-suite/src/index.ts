import { afterAll, beforeAll, describe } from 'vitest';
import { describeAccounts } from './accounts.ts';
import { describeApplications } from './applications.ts';
import { describeBindings } from './bindings.ts';
import { describeClientDocuments } from './client-documents.ts';
import { describeCodes } from './codes.ts';
import { describeCommandChanges } from './command-changes.ts';
import { describeConnections } from './connections.ts';
import { describeCounts } from './counts.ts';
import { describeCrashes } from './crashes.ts';
import { describeDeletion } from './deletion.ts';
import { describeDocumented } from './documented.ts';
import { describeEndpoints } from './endpoints.ts';
import { describeErasure } from './erasure.ts';
import { describeEvents } from './events.ts';
import { describeGrants } from './grants.ts';
import { type StoreHarness, SuiteStores } from './harness.ts';
import { describeHistory } from './history.ts';
import { describeKeys } from './keys.ts';
import { describeLifecycle } from './lifecycle.ts';
import { describeLinks } from './links.ts';
import { describeLists } from './lists.ts';
import { describeLogNumbers } from './log-numbers.ts';
import { describeMarks } from './marks.ts';
import { describeModel } from './model.ts';
import { describePages } from './pages.ts';
import { describeRaces } from './races.ts';
import { describeRateLimits } from './rate-limits.ts';
import { describeRefusals } from './refusals.ts';
import { describeResources } from './resources.ts';
import { describeRevokedGrantDays } from './revoked-grant-days.ts';
import { describeScopes } from './scopes.ts';
import { describeSweep } from './sweep.ts';
import { describeTexts } from './texts.ts';

/**
 * Tests every promise of the {@link Store} port. A store is correct if this passes unchanged.
 *
 * @param name - the store, for the report
 * @param harness - creates its databases
 */
export function testStore(name: string, harness: StoreHarness): void {
  describe(`${name} keeps the promises of the store`, () => {
    const stores = new SuiteStores(harness);
    beforeAll(() => stores.start());
    afterAll(() => stores.stop());

    describeApplications(stores);
    describeDocumented(stores);
    describeAccounts(stores);
    describeErasure(stores);
    describeMarks(stores);
    describeDeletion(stores);
    describeTexts(stores);
    describeScopes(stores);
    describeResources(stores);
    describeClientDocuments(stores);
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
