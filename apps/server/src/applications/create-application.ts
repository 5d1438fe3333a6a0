import { newId } from '../credentials/credentials.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord } from '../store/records.ts';
import { mintSecret } from './mint-secret.ts';

/** Creates an application with its first secret, which never expires. */
export async function createApplication(
  { store, clock }: Service,
  name: string,
): Promise<{ application: ApplicationRecord; secret: string }> {
  const now = clock();
  const id = newId(now);
  const { record, credential } = mintSecret(id, now, null);
  const application = { id, name, disabled: false, created_at: now, secrets: [record] };
  await store.createApplication(application);
  return { application, secret: credential };
}
