import type { ValidatedInput } from '@latchkey/schema';
import { newId } from '../credentials/credentials.ts';
import type { Service } from '../service.ts';
import type { ApplicationRecord } from '../store/records.ts';
import { mintSecret } from './mint-secret.ts';

type ApplicationInput = ValidatedInput<'admin.applications.create'>;

/** Creates an application with its first secret, which never expires. */
export async function createApplication(
  { store, clock }: Service,
  input: ApplicationInput,
): Promise<{ application: ApplicationRecord; secret: string | null }> {
  const now = clock();
  const id = newId(now);
  const minted = input.public ? null : mintSecret(id, now, null);
  const secrets = minted === null ? [] : [minted.record];
  const application = { ...input, id, disabled: false, created_at: now, secrets };
  await store.createApplication(application);
  return { application, secret: minted?.credential ?? null };
}
