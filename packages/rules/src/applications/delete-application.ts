import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { deletionWork } from '@latchkey/store/endings';
import type { ApplicationRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** None of its secrets, codes and grants works from now on. */
export async function deleteApplication(
  { store, clock, runner }: Pick<Dependencies, 'store' | 'clock' | 'runner'>,
  application_id: string,
  initiator: Initiator,
): Promise<{ deleted: ApplicationRecord; isDone: boolean }> {
  const deletion = { application_id, deleted_at: clock(), deleted_by: initiator };
  const deleted = await store.deleteApplication(deletion);
  if (typeof deleted === 'string') throw new DomainError(deleted);
  const { isDone } = await runner.run(deletionWork(deletion, deleted.revocations));
  return { deleted, isDone };
}
