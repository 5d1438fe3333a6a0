import type { Milliseconds } from '@latchkey/domain/clock';
import { mintCredential, newId, textOfHash } from '@latchkey/domain/credentials/credentials';
import { credentialHint } from '@latchkey/schema';
import type { SecretRecord } from '@latchkey/store/records';

export function mintSecret(
  application_id: string,
  now: Milliseconds,
  expires_at: Milliseconds | null,
): { record: SecretRecord; credential: string } {
  const { credential, hash } = mintCredential('applicationSecret', application_id);
  const record = {
    id: newId(now),
    hash: textOfHash(hash),
    hint: credentialHint(credential),
    created_at: now,
    expires_at,
    last_used_at: null,
  };
  return { record, credential };
}
