import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { DomainError } from '@latchkey/domain/domain-error';
import { DEMO_ENDPOINT_ID } from '@latchkey/store/events-keys';
import { listedAccount } from '@latchkey/store/operations/accounts';
import { applicationOf } from '@latchkey/store/operations/applications';
import type { Store, StoreOptions } from '@latchkey/store/store';
import { claimDatabase, type UseMark } from '@latchkey/store/use-mark';
import type { StoreHarness, TestDatabase } from './harness.ts';
import type { StoredGrant } from './many-grants.ts';
import { emptyState, type ModelState, modelStore, sweepModel } from './model-store.ts';

/** Runs the suite on the model, so that a change of the port is tried on something simple. */
export const modelHarness: StoreHarness = {
  sweepTimeout: 60_000,
  expiredCodesKept: 0,
  // It is in the memory of one process.
  skips: ['processes', 'kills', 'durability'],

  async fresh(): Promise<TestDatabase> {
    const state = emptyState();
    const { findCode, makeDeliveries } = modelStore(state);
    return {
      // No other process opens it.
      ...{ module: '', url: '' },
      open: (options) => openModel(state, options),
      openTarget: async () => openTarget(state),
      async waitForSweep(grant_id) {
        while (findCode(grant_id) !== null) {
          sweepModel(state, Date.now());
          await sleep(50);
        }
      },
      async reduceRevoked(revokedGrantDays, now) {
        makeDeliveries(Date.now());
        sweepModel(state, now, revokedGrantDays);
      },
      sweep: async (now) => sweepModel(state, now),
      async membersOf(kind, id) {
        const record = state[kind].get(id) ?? {};
        const members = Object.entries(record).flatMap(([name, value]) => (value ? [name] : []));
        return members.map((name) => (name === 'grant_id' && kind === 'grants' ? 'id' : name));
      },
      async remove() {},
    };
  },
};

/** A handle to a model: asynchronous, and with records of its own, like those to a database. */
async function openModel(
  state: ModelState,
  { recordsEvents, claim }: Pick<StoreOptions, 'recordsEvents' | 'claim'> = {},
): Promise<Store> {
  let isClosed = false;
  const handled =
    <Args extends unknown[]>(call: (...args: Args) => unknown, name = '') =>
    async (...args: Args): Promise<never> => {
      const isBehindMark = name === 'doStep' || name === 'finishWork';
      const code = isBehindMark ? 'outcome_unknown' : 'store_unavailable';
      if (isClosed) throw new DomainError(code, {}, new Error('It is closed.'));
      const result = call(...structuredClone(args));
      // At once: what another call changes meanwhile is not its own.
      return structuredClone(result instanceof Promise ? await result : result) as never;
    };
  const claimed = {
    ...{ name: 'The model', ...marksOf(state) },
    hasEndpoints: async () => [...state.endpoints.keys()].some((id) => id !== DEMO_ENDPOINT_ID),
  };
  if (claim) await claimDatabase(claimed, claim);
  const methods = Object.entries(modelStore(state, recordsEvents));
  const calls = methods.map(([name, call]) => [name, handled(call as never, name)]);
  return {
    ...(Object.fromEntries(calls) as Omit<
      Store,
      'admitEventsKeys' | 'housekeeping' | 'ping' | 'close'
    >),
    housekeeping: [],
    admitEventsKeys: handled((eventsKeys) =>
      claimDatabase(claimed, { evenIfCopied: false, eventsKeys }),
    ),
    ping: handled(() => undefined),
    async close() {
      isClosed = true;
    },
  };
}

const marksOf = (state: ModelState) => ({
  find: async () => state.mark,
  async replace(before: UseMark | null, after: UseMark) {
    if (!isDeepStrictEqual(state.mark, before)) return false;
    state.mark = after;
    return true;
  },
});

function openTarget(state: ModelState): Awaited<ReturnType<TestDatabase['openTarget']>> {
  const put: Record<string, (record: never) => void> = {
    applications(record: Parameters<typeof applicationOf>[0]) {
      state.applications.set(record.id, applicationOf(record));
    },
    accounts(record: Parameters<typeof listedAccount>[0]) {
      const listed = listedAccount(record);
      state.accounts.set(listed.account.id, { ...listed, sign_outs: 0 });
    },
    grants: ({ id, ...grant }: StoredGrant) => state.grants.set(id, { grant_id: id, ...grant }),
  };
  return {
    replace: marksOf(state).replace,
    async write(kind, { records }) {
      for (const record of structuredClone(records)) put[kind.name]?.(record as never);
      return true;
    },
    async close() {},
  };
}
