import { inRequest, isPastDeadline, REQUEST_DEADLINE } from '@latchkey/domain/request-scope';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createExportTurns } from './export-turns.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const turns = createExportTurns();
const codeOf = (call: Promise<unknown>) => call.catch(({ code }) => code);

/** An export that runs until it is ended. */
function running(account_id: string) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const run = vi.fn(async function* () {
    yield await promise.finally(() => ended.push(isPastDeadline()));
  });
  const ended: boolean[] = [];
  const readAll = async () => {
    let all = '';
    for await (const part of turns.take(account_id, run)) all += part;
    return all;
  };
  return { run, ended, resolve, reject, result: codeOf(inRequest(readAll)) };
}

test('an export goes on after the deadline of its request', async () => {
  const { resolve, result, ended } = running('ada');
  vi.advanceTimersByTime(10 * REQUEST_DEADLINE);
  resolve('all');
  expect(await result).toBe('all');
  expect(ended).toEqual([false]);
});

test('a second one of the account waits for the first, and others do not', async () => {
  const [first, second, third, other] = ['ada', 'ada', 'ada', 'bob'].map(running);
  await vi.waitFor(() => expect(other?.run).toHaveBeenCalledOnce());
  expect([first, second, third].map((each) => each?.run.mock.calls.length)).toEqual([1, 0, 0]);
  first?.reject({ code: 'store_unavailable' });
  expect(await first?.result).toBe('store_unavailable');
  await vi.waitFor(() => expect(second?.run).toHaveBeenCalledOnce());
  expect(third?.run).not.toHaveBeenCalled();
  second?.resolve('second');
  await vi.waitFor(() => expect(third?.run).toHaveBeenCalledOnce());
  third?.resolve('third');
  other?.resolve('other');
  expect(await Promise.all([second?.result, third?.result, other?.result])).toEqual([
    'second',
    'third',
    'other',
  ]);
});

test('who waits until the deadline of the request is refused, and runs nothing later', async () => {
  const [first, second] = ['ada', 'ada'].map(running);
  vi.advanceTimersByTime(REQUEST_DEADLINE);
  expect(await second?.result).toBe('store_unavailable');
  first?.resolve('all');
  expect(await first?.result).toBe('all');
  expect(second?.run).not.toHaveBeenCalled();
});

test('a reader that returns ends its turn', async () => {
  const parts = turns.take('ada', async function* () {
    for (;;) yield 'a part';
  });
  expect(await parts.next()).toEqual({ done: false, value: 'a part' });
  const { run, resolve, result } = running('ada');
  expect(run).not.toHaveBeenCalled();
  await parts.return();
  resolve('all');
  expect(await result).toBe('all');
});
