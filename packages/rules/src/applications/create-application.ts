import { newId } from '@latchkey/domain/credentials/credentials';
import type { ApplicationMembers } from '@latchkey/store/application-members';
import { plainApplication } from '@latchkey/store/plain-application';
import type { ApplicationRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { refuseIfFull } from '../room.ts';
import { mintSecret } from './mint-secret.ts';

export type NewApplication = ApplicationMembers & Pick<ApplicationRecord, 'public'>;

/** The first secret never expires. A public application gets none. */
export async function createApplication(
  service: Pick<Dependencies, 'store' | 'clock' | 'room'>,
  members: NewApplication,
): Promise<{ application: ApplicationRecord; secret: string | null }> {
  await refuseIfFull(service);
  const now = service.clock();
  const id = newId(now);
  const minted = members.public ? null : mintSecret(id, now, null);
  const application: ApplicationRecord = {
    ...plainApplication,
    ...members,
    id,
    created_at: now,
    secrets: minted === null ? [] : [minted.record],
  };
  await service.store.createApplication(application);
  return { application, secret: minted?.credential ?? null };
}
