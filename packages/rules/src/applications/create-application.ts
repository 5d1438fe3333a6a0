import { newId } from '@latchkey/domain/credentials/credentials';
import { firstGenerations } from '@latchkey/store/generations';
import type { ApplicationRecord } from '@latchkey/store/records';
import { refuseIfFull } from '@latchkey/store/room';
import type { Dependencies } from '../dependencies.ts';
import { mintSecret } from './mint-secret.ts';

export type NewApplication = Omit<
  ApplicationRecord,
  'id' | 'disabled' | 'created_at' | 'enabled_at' | 'secrets' | 'generations' | 'document'
>;

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
    ...members,
    id,
    document: null,
    disabled: false,
    created_at: now,
    enabled_at: null,
    secrets: minted === null ? [] : [minted.record],
    generations: firstGenerations,
  };
  await service.store.createApplication(application);
  return { application, secret: minted?.credential ?? null };
}
