import {
  inRequest,
  REQUEST_DEADLINE,
  restartRequest,
  withoutDeadline,
} from '@latchkey/domain/request-scope';
import type { Store } from '@latchkey/store/store';
import { erase, revokeAll } from '@latchkey/store-suite/finish';
import { aCode, anId, anInitiator, redemptionOf } from '@latchkey/store-suite/records';
import type { Document } from 'mongodb';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { toId } from '../src/documents/values.ts';
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
  const outcome = codeOf(inRequest(() => store.findCode(anId())));
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

const work = { account_id: anId(), now: 0, initiator: anInitiator() };

const disconnect = () => revokeAll(store, { ...work, application_id: anId() });

test.each<[string, string, string, () => Promise<unknown>]>([
  ['an erasure', 'delete', 'outcome_unknown', () => erase(store, work)],
  ['an erasure', 'update', 'outcome_unknown', () => erase(store, work)],
  ['a disconnect', 'update', 'store_unavailable', disconnect],
])('%s that is cut short in a part, at its %s, is %s', async (_, name, code, call) => {
  const grant = { _id: toId(anId()), created_at: new Date(0), link_id: toId(anId()) };
  server.script('find', batch(grant));
  server.hold(name, replies);
  // The mark of the erasure is no part.
  server.on(name, (command) => (command[name] === 'accounts' ? { n: 1, nModified: 1 } : 'hold'));
  const outcome = codeOf(inRequest(call));
  await sent(1);
  vi.advanceTimersByTime(REQUEST_DEADLINE);
  expect(await outcome).toEqual({ code });
});

test('the deadline is one for all steps, and no step begins after it', async () => {
  const outcome = await inRequest(async () => {
    for (let steps = 0; steps < 3; steps++) {
      await store.findCode(anId());
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
  expect(await codeOf(inRequest(() => store.findCode(anId())))).toBe('done');
  expect(server.sent('findAndModify')).toEqual([]);
});

test('it begins at the last byte of the request', async () => {
  server.hold('find', replies);
  const outcome = codeOf(
    inRequest(async () => {
      vi.advanceTimersByTime(REQUEST_DEADLINE - 1);
      restartRequest();
      await store.findCode(anId());
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
  const outcome = codeOf(store.findCode(anId()));
  await sent(1);
  vi.advanceTimersByTime(2 * REQUEST_DEADLINE);
  expect(await isOpen(outcome)).toBe(true);
});

test('what has no deadline is waited for', async () => {
  server.hold('find', replies);
  const outcome = codeOf(inRequest(() => withoutDeadline(() => store.findCode(anId()))));
  await sent(1);
  vi.advanceTimersByTime(2 * REQUEST_DEADLINE);
  expect(await isOpen(outcome)).toBe(true);
});
