import type { SecretRecord } from '@latchkey/store/records';
import { createUseNotes } from '@latchkey/store/use-notes';
import { expect, test } from 'vitest';
import { noteSecretUse } from './authenticate-application.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 1, 12);

function secret(last_used_at: number | null): SecretRecord {
  return {
    id: 'secret',
    hash: new Uint8Array(32),
    hint: '',
    created_at: 0,
    expires_at: null,
    last_used_at,
  };
}

/** Records the times that are written; a write ends when the test says so. */
function recorder() {
  const written: number[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const useNotes = createUseNotes((error) => failures.push(error));
  const store = {
    noteSecretUse(_application: string, _secret: string, at: number) {
      written.push(at);
      const write = Promise.withResolvers<void>();
      waiting.push(write);
      return write.promise;
    },
  };
  const note = (used: SecretRecord, now: number) =>
    noteSecretUse({ store, useNotes }, 'application', used, now);
  return { note, flush: useNotes.flush, written, waiting, failures };
}

test('writes the minute of a first use', () => {
  const { note, written } = recorder();
  note(secret(null), NOON + 59_999);
  expect(written).toEqual([NOON]);
});

test('writes once a minute', () => {
  const { note, written } = recorder();
  note(secret(NOON), NOON + MINUTE - 1);
  expect(written).toEqual([]);
  note(secret(NOON), NOON + MINUTE);
  expect(written).toEqual([NOON + MINUTE]);
});

test('writes once for all requests during a write', async () => {
  const { note, flush, written, waiting } = recorder();
  for (let i = 0; i < 100; i++) note(secret(null), NOON + i);
  expect(written).toEqual([NOON]);
  waiting[0]?.resolve();
  await flush();
  note(secret(NOON), NOON + MINUTE);
  expect(written).toEqual([NOON, NOON + MINUTE]);
});

test('writes for each secret', () => {
  const { note, written } = recorder();
  note(secret(null), NOON);
  note({ ...secret(null), id: 'other' }, NOON);
  expect(written).toHaveLength(2);
});

test('reports a failed write and continues', async () => {
  const { note, flush, written, waiting, failures } = recorder();
  note(secret(null), NOON);
  waiting[0]?.reject(new Error('gone'));
  await flush();
  expect(failures).toEqual([new Error('gone')]);
  note(secret(null), NOON + 1);
  expect(written).toHaveLength(2);
});

test('flush waits for the write that is under way', async () => {
  const { note, flush, waiting } = recorder();
  note(secret(null), NOON);
  let flushed = false;
  const flushing = flush().then(() => {
    flushed = true;
  });
  await Promise.resolve();
  expect(flushed).toBe(false);
  waiting[0]?.resolve();
  await flushing;
});
