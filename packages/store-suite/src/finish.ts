import { setTimeout as sleep } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';
import { WORK_STEPS, type Work } from '@latchkey/store/endings';
import type { Done, Erasure, RevocationMark, Store } from '@latchkey/store/store';

type Working = Pick<Store, 'doStep' | 'finishWork'>;

/** Does all the work of a mark, as the service does in the background. */
export async function finish(
  store: Working,
  work: Work | null,
  limit = 100,
): Promise<Pick<Done, 'revoked' | 'codes_cancelled'>> {
  const done = { revoked: [] as Done['revoked'], codes_cancelled: 0 };
  if (work === null || work.is_done) return done;
  for (const step of WORK_STEPS[work.kind]) {
    for (let isOver = false; !isOver; ) {
      const part = await store.doStep(work, step, limit);
      isOver = part.isOver;
      done.revoked.push(...part.revoked);
      done.codes_cancelled += part.codes_cancelled;
      // Another handle reads the log.
      if (step === 'log' && !isOver) await sleep(10);
    }
  }
  await store.finishWork(work);
  return done;
}

/** @returns how many grants this has revoked */
export async function erase(
  store: Working & Pick<Store, 'markErasure'>,
  erasure: Erasure,
): Promise<number> {
  return (await finish(store, await store.markErasure(erasure))).revoked.length;
}

export async function revokeAll(
  store: Working & Pick<Store, 'markRevocation'>,
  mark: RevocationMark,
): Promise<Done['revoked']> {
  return (await finish(store, await store.markRevocation(mark))).revoked;
}

/** Finishes what was begun, also by others. */
export async function finishAll(store: Working & Pick<Store, 'listWork'>): Promise<void> {
  for (const work of await store.listWork(1_000)) await finish(store, work);
}

/** Does all of the housekeeping, as the service does in the background. */
export async function sweep(store: Pick<Store, 'housekeeping'>, now: Milliseconds): Promise<void> {
  for (const { step } of store.housekeeping) {
    while (await step(now, 1_000)) {
      // Lets requests run between two steps.
    }
  }
}
