import type { WorkStep } from '@latchkey/store/endings';
import type { AccountRecord, ConnectedPage, Work } from '@latchkey/store/records';
import type { Done, EventCounts, Store } from '@latchkey/store/store';
import type { OpenStore } from './every-operation.ts';
import { finishAll } from './finish.ts';
import {
  aDeletion,
  anApplication,
  anEndpoint,
  anId,
  granted,
  inPortions,
  issued,
} from './records.ts';

/** What one call of an operation, or one step behind the requests, is to read no more rows than. */
export interface Answered {
  operation: string;
  /** How many rows the answer is made of, or are changed. */
  rows: number;
}

/** How many rows an answer is made of, where it is no list of them and not one of them. */
const rowsOf: { readonly [Name in keyof Store]?: (result: never) => number } = {
  listConnected: ({ connected }: ConnectedPage) => 2 * connected.length,
  countActiveGrants: ({ count }: { count: number }) => Math.abs(count),
  countPendingCodes: (count: number) => count,
  countEvents: ({ pending, failing_endpoints }: EventCounts) => pending + failing_endpoints,
  replayDeliveries: (count: number) => count,
  doStep: ({ changed }: Done) => changed,
};

function answeredBy(operation: string, result: unknown): number {
  const rows = rowsOf[operation as keyof Store] as ((result: unknown) => number) | undefined;
  if (rows !== undefined) return rows(result);
  return Array.isArray(result) ? result.length : 1;
}

/** A store that tells of each call, once it is over. A step of work is told by its name. */
export function watched(
  store: OpenStore,
  onCall: (answered: Answered) => Promise<void> | void,
): OpenStore {
  const call =
    (operation: string, of: (...input: never[]) => Promise<unknown>, name = operation) =>
    async (...input: never[]) => {
      const result = await of(...input);
      await onCall({ operation: name, rows: answeredBy(operation, result) });
      return result;
    };
  return new Proxy(store, {
    get(target, operation: string, receiver) {
      const member = Reflect.get(target, operation, receiver);
      if (operation === 'housekeeping') {
        return target.housekeeping.map(({ name, step }) => ({ name, step: call(name, step) }));
      }
      if (typeof member !== 'function') return member;
      if (operation !== 'doStep') return call(operation, member);
      return (work: Work, step: WorkStep, limit: number) =>
        call('doStep', () => target.doStep(work, step, limit), `${work.kind}: ${step}`)();
    },
  });
}

/**
 * So many of what a service may have many of, beside grants that are over: applications that an account is
 * connected with, deleted ones, active grants of an application, pending codes of both, endpoints, and events of which no
 * endpoint was told yet.
 */
export async function manyOfEach(
  store: Store,
  { account, application_id }: { account: AccountRecord; application_id: string },
  count: number,
): Promise<void> {
  await store.putAccount(account);
  await store.createEndpoint(anEndpoint(), { most: 9 });
  await inPortions(count, async () => {
    const application = anApplication();
    await store.createApplication(application);
    await store.createEndpoint(anEndpoint({ application_id: application.id }), { most: 9 });
    await granted(store, { account, application_id: application.id });
    await granted(store, { application_id });
    await issued(store, { application_id: anId() });
  });
  await inPortions(count, async () => {
    const application = anApplication();
    await store.createApplication(application);
    await store.setApplicationDisabled(application.id, true, 1);
    await store.deleteApplication(aDeletion({ application_id: application.id }));
  });
  await finishAll(store);
  while (await store.makeDeliveries(Date.now())) {
    // Until there is a delivery of each.
  }
  await inPortions(count, async () => {
    await granted(store);
  });
}
