import type { Initiator } from '@latchkey/domain/initiator';
import type { Parties } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import type { Progress } from '../work/runner.ts';

/** What is known of a mark, for the answer and for the audit. */
export interface Ended extends Progress {
  /** Null if there was nothing to mark. */
  mark_number: number | null;
}

/** Once this has returned, no process sees one of the grants as active, and no code from before becomes one. */
export async function revokeAll(
  { store, clock, runner }: Pick<Dependencies, 'store' | 'clock' | 'runner'>,
  parties: Parties,
  initiator: Initiator,
): Promise<Ended> {
  const work = await store.markRevocation({ ...parties, initiator, now: clock() });
  return { ...(await runner.run(work)), mark_number: work?.before ?? null };
}
