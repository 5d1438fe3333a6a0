import {
  inRequest,
  REQUEST_DEADLINE,
  restartRequest,
  withoutDeadline,
} from '@latchkey/domain/request-scope';
import type { Store } from '@latchkey/store/store';
import { erase, revokeAll } from '@latchkey/store-suite/finish';
import { aCode, anAccount, anId, anInitiator, redemptionOf } from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toId } from '../src/values.ts';
import { batch, type ScriptedServer } from './scripted-server.ts';
import { scripted, scriptedServer, storeOn } from './scripted-store.ts';

// A server that takes commands and does not reply: the test moves the time of the request.

let server: ScriptedServer;
let store: Store;
const replies: ((reply: Document) => void)[] = [];
beforeEach(async () => {
  replies.length = 0;
  ({ server, store } = await scripted());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
  for (const reply of replies) reply({ ...batch(), value: null });
});

const sent = (count: number) => vi.waitFor(() => expect(replies).toHaveLength(count));
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'done',
    ({ code, members }) => ({ code, ...members }),
  );
async function isOpen(outcome: Promise<unknown>) {
  return (await Promise.race([outcome, Promise.resolve('open')])) === 'open';
}

test('a read that has no reply 20 s after the request is store_unavailable', async () => {
  server.hold('find', replies);
  const outcome = codeOf(inRequest(() => store.findDelivery(anId())));
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE - 1);
  expect(await isOpen(outcome)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await outcome).toEqual({ code: 'store_unavailable' });
});

test('a look-up that several requests share fails each at its own time', async () => {
  server.hold('find', replies);
  const first = codeOf(inRequest(() => store.findAccount(anId())));
  await sent(1);
  vi.advanceTimersByTime(5_000);
  const second = codeOf(inRequest(() => store.findAccount(anId())));
  await sent(2);
  vi.advanceTimersByTime(REQUEST_DEADLINE - 5_000);
  expect(await first).toEqual({ code: 'store_unavailable' });
  expect(await isOpen(second)).toBe(true);
});

test('a write that has no reply by then may have been made', async () => {
  server.hold('findAndModify', replies);
  const code = aCode();
  const outcome = codeOf(inRequest(() => store.redeemCode(redemptionOf(code))));
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE);
  expect(await outcome).toEqual({ code: 'outcome_unknown', grant_id: code.grant_id });
});

const mark = { account_id: anId(), now: 0, initiator: anInitiator() };
const disconnect = { ...mark, application_id: anId() };

test.each<[string, string, () => Promise<unknown>]>([
  ['an erasure', 'pages', () => erase(store, mark)],
  ['an erasure', 'grants', () => erase(store, mark)],
  ['a disconnect', 'grants', () => revokeAll(store, disconnect)],
])(
  '%s that is cut short in its work, at %s, is not said to have changed nothing',
  async (_, kind, call) => {
    const found = { _id: toId(anId()), created_at: new Date(0), link_id: toId(anId()) };
    const account = { _id: toId(mark.account_id), account: anAccount({ id: mark.account_id }) };
    server.on('find', ({ find }) =>
      batch(...(find === 'accounts' ? [account] : find === kind ? [found] : [])),
    );
    server.hold('delete', replies);
    server.hold('update', replies);
    // The mark is made.
    server.on('update', ({ update }) => (update === 'accounts' ? { n: 1, nModified: 1 } : 'hold'));
    const outcome = codeOf(inRequest(call));
    await sent(1);
    vi.advanceTimersByTime(REQUEST_DEADLINE);
    expect(await outcome).toEqual({ code: 'outcome_unknown' });
  },
);

test.each<[string, () => Promise<unknown>]>([
  ['an erasure', () => store.markErasure(mark)],
  ['a disconnect', () => store.markRevocation(disconnect)],
])('the mark of %s that has no reply by then may have been made', async (_, call) => {
  const account = { _id: toId(mark.account_id), account: anAccount({ id: mark.account_id }) };
  server.on('find', () => batch(account));
  server.hold('update', replies);
  const outcome = codeOf(inRequest(call));
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE);
  expect(await outcome).toEqual({ code: 'outcome_unknown' });
});

test('the deadline is one for all steps, and no step begins after it', async () => {
  const outcome = await inRequest(async () => {
    for (let steps = 0; steps < 3; steps++) {
      await store.listActiveGrants({ application_id: anId() }, { limit: 1, before: null });
      vi.advanceTimersByTime(REQUEST_DEADLINE / 2);
    }
  }).catch(({ code }) => code);
  expect(outcome).toBe('store_unavailable');
  expect(server.sent('find')).toHaveLength(2);
  expect(await codeOf(inRequest(() => store.redeemCode(redemptionOf(aCode()))))).toBe('done');
});

test('a write that waits for the preparation of the database is not sent after it', async () => {
  server = await scriptedServer();
  server.on('connectionStatus', () => ({ ok: 0, code: 1, errmsg: 'not yet' }));
  store = await storeOn(server);
  server.hold('connectionStatus', replies);
  const outcome = codeOf(inRequest(() => store.redeemCode(redemptionOf(aCode()))));
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE);
  expect(await outcome).toEqual({ code: 'store_unavailable' });
  for (const reply of replies) reply({});
  // Behind the write, had there been one.
  expect(await codeOf(inRequest(() => store.findDelivery(anId())))).toBe('done');
  expect(server.sent('findAndModify')).toEqual([]);
});

test('it begins at the last byte of the request', async () => {
  server.hold('find', replies);
  const outcome = codeOf(
    inRequest(async () => {
      vi.advanceTimersByTime(REQUEST_DEADLINE - 1);
      restartRequest();
      await store.findDelivery(anId());
    }),
  );
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE - 1);
  expect(await isOpen(outcome)).toBe(true);
  vi.advanceTimersByTime(1);
  expect(await outcome).toEqual({ code: 'store_unavailable' });
});

test('what no request waits for has none', async () => {
  server.hold('find', replies);
  const outcome = codeOf(store.findDelivery(anId()));
  await sent(1);
  vi.advanceTimersByTime(2 * REQUEST_DEADLINE);
  expect(await isOpen(outcome)).toBe(true);
});

test('what has no deadline is waited for', async () => {
  server.hold('find', replies);
  const outcome = codeOf(inRequest(() => withoutDeadline(() => store.findDelivery(anId()))));
  await sent(1);
  vi.advanceTimersByTime(2 * REQUEST_DEADLINE);
  expect(await isOpen(outcome)).toBe(true);
});
