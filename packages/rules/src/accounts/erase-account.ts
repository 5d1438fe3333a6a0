import type { Initiator } from '@latchkey/domain/initiator';
import type { Dependencies } from '../dependencies.ts';
import type { Ended } from '../grants/revoke-all.ts';

/** Once this has returned, nothing of the account works, and no reader gets its data. */
export async function eraseAccount(
  { store, clock, runner }: Pick<Dependencies, 'store' | 'clock' | 'runner'>,
  account_id: string,
  initiator: Initiator,
): Promise<Ended> {
  const work = await store.markErasure({ account_id, initiator, now: clock() });
  return { ...(await runner.run(work)), mark_number: work.before };
}
