import { afterAll, beforeAll, describe } from 'vitest';
import { describeAccounts } from './suite-accounts.ts';
import { describeApplications } from './suite-applications.ts';
import { describeCodes } from './suite-codes.ts';
import { describeCrashes } from './suite-crashes.ts';
import { describeGrants } from './suite-grants.ts';
import { type StoreHarness, SuiteStores } from './suite-harness.ts';
import { describeHistory } from './suite-history.ts';
import { describeLifecycle } from './suite-lifecycle.ts';
import { describeLists } from './suite-lists.ts';
import { describeModel } from './suite-model.ts';
import { describeRaces } from './suite-races.ts';
import { describeRateLimits } from './suite-rate-limits.ts';
import { describeRefusals } from './suite-refusals.ts';
import { describeSweep } from './suite-sweep.ts';
import { describeTexts } from './suite-texts.ts';

/**
 * Holds an adapter to every promise of the {@link Store} port. An adapter is right when this
 * passes, unchanged.
 *
 * @param name - of the adapter, for the report
 * @param harness - makes its databases
 */
export function describeStore(name: string, harness: StoreHarness): void {
  describe(`${name} keeps the promises of the store`, () => {
    const stores = new SuiteStores(harness);
    beforeAll(() => stores.start(), 60_000);
    afterAll(() => stores.stop(), 60_000);

    describeApplications(stores);
    describeAccounts(stores);
    describeTexts(stores);
    describeCodes(stores);
    describeGrants(stores);
    describeHistory(stores);
    describeRefusals(stores);
    describeLists(stores);
    describeRateLimits(stores);
    describeSweep(stores);
    describeModel(stores);
    describeRaces(stores);
    describeCrashes(stores);
    describeLifecycle(stores);
  });
}
