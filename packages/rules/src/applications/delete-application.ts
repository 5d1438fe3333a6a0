import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import type { ApplicationRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** Grants and codes beyond the first page end in the background; none works from now on. */
export async function deleteApplication(
  { store, clock, deletions }: Pick<Dependencies, 'store' | 'clock' | 'deletions'>,
  application_id: string,
  initiator: Initiator,
): Promise<ApplicationRecord> {
  const deletion = { application_id, deleted_at: clock(), deleted_by: initiator };
  const deleted = await store.deleteApplication(deletion);
  if (typeof deleted === 'string') throw new DomainError(deleted);
  await deletions.begin(deletion, deleted.document?.uri ?? null);
  return deleted;
}
