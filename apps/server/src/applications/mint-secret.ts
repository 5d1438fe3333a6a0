import { credentialHint } from '@latchkey/schema';
import type { Milliseconds } from '../clock.ts';
import { mintCredential, newId } from '../credentials/credentials.ts';
import type { SecretRecord } from '../store/records.ts';

export function mintSecret(
  application_id: string,
  now: Milliseconds,
  expires_at: Milliseconds | null,
): { record: SecretRecord; credential: string } {
  const { credential, hash } = mintCredential('applicationSecret', application_id);
  const record = {
    id: newId(now),
    hash,
    hint: credentialHint(credential),
    created_at: now,
    expires_at,
    last_used_at: null,
  };
  return { record, credential };
}
