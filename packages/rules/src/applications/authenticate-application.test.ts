import { mintCredential } from '@latchkey/domain/credentials/credentials';
import type { Store } from '@latchkey/store/store';
import { expect, test } from 'vitest';
import { createUseNotes } from '../use-notes.ts';
import { authenticateApplication } from './authenticate-application.ts';

const MINUTE = 60_000;
const NOON = Date.UTC(2026, 0, 1, 12);

/** Records the times that are written; a write ends when the test says so. */
function recorder() {
  const written: number[] = [];
  const waiting: PromiseWithResolvers<void>[] = [];
  const failures: unknown[] = [];
  const useNotes = createUseNotes((error) => failures.push(error));
  const { credential, hash } = mintCredential('applicationSecret', crypto.randomUUID());

  function note(last_used_at: number | null, now: number, id = 'secret') {
    const secrets = [{ id, hash, expires_at: null, last_used_at }];
    const store = {
      authenticateApplication: async () => ({ secrets, disabled: false }),
      noteSecretUse(_application: string, _secret: string, at: number) {
        written.push(at);
        const write = Promise.withResolvers<void>();
        waiting.push(write);
        return write.promise;
      },
    } as unknown as Store;
    return authenticateApplication({ store, clock: () => now, useNotes }, credential);
  }
  return { note, flush: useNotes.flush, written, waiting, failures };
}

test('writes the minute of a first use', async () => {
  const { note, written } = recorder();
  await note(null, NOON + 59_999);
  expect(written).toEqual([NOON]);
});

test('writes once a minute', async () => {
  const { note, written } = recorder();
  await note(NOON, NOON + MINUTE - 1);
  expect(written).toEqual([]);
  await note(NOON, NOON + MINUTE);
  expect(written).toEqual([NOON + MINUTE]);
});

test('writes once for all requests during a write', async () => {
  const { note, flush, written, waiting } = recorder();
  for (let i = 0; i < 100; i++) await note(null, NOON + i);
  expect(written).toEqual([NOON]);
  waiting[0]?.resolve();
  await flush();
  await note(NOON, NOON + MINUTE);
  expect(written).toEqual([NOON, NOON + MINUTE]);
});

test('writes for each secret', async () => {
  const { note, written } = recorder();
  await note(null, NOON);
  await note(null, NOON, 'other');
  expect(written).toHaveLength(2);
});

test('reports a failed write and continues', async () => {
  const { note, flush, written, waiting, failures } = recorder();
  await note(null, NOON);
  waiting[0]?.reject(new Error('gone'));
  await flush();
  expect(failures).toEqual([new Error('gone')]);
  await note(null, NOON + 1);
  expect(written).toHaveLength(2);
});

test('flush waits for the write that is under way', async () => {
  const { note, flush, waiting } = recorder();
  await note(null, NOON);
  let flushed = false;
  const flushing = flush().then(() => {
    flushed = true;
  });
  await Promise.resolve();
  expect(flushed).toBe(false);
  waiting[0]?.resolve();
  await flushing;
});
