import type { Milliseconds } from '@latchkey/domain/clock';
import {
  isLive,
  mintCredential,
  newId,
  textOfHash,
} from '@latchkey/domain/credentials/credentials';
import { requireFuture } from '@latchkey/domain/credentials/require-future';
import { DomainError } from '@latchkey/domain/domain-error';
import { credentialHint, type Role } from '@latchkey/schema';
import type { KeyRecord } from '@latchkey/store/records';
import { withoutOutdated } from '@latchkey/store/secrets';
import type { Dependencies } from '../dependencies.ts';

export const MAX_LIVE_KEYS = 50;

export async function createKey(
  { store, clock, room }: Pick<Dependencies, 'store' | 'clock' | 'room'>,
  members: { name: string; role: Role; expires_at: Milliseconds | null },
): Promise<{ key: KeyRecord; credential: string }> {
  const now = clock();
  requireFuture(members.expires_at, now);
  const id = newId(now);
  const { credential, hash } = mintCredential('key', id);
  const key: KeyRecord = {
    ...{ id, ...members, hash: textOfHash(hash), hint: credentialHint(credential) },
    ...{ created_at: now, last_used_at: null },
  };
  if (await room.isFull()) {
    const live = (await store.listKeys()).filter((other) => isLive(other, now));
    throw new DomainError(live.length < MAX_LIVE_KEYS ? 'store_full' : 'key_limit_reached');
  }
  const outcome = await store.createKey(key, { most: MAX_LIVE_KEYS, now });
  if (outcome !== 'created') throw new DomainError(outcome);
  return { key, credential };
}

export async function listKeys({ store, clock }: Pick<Dependencies, 'store' | 'clock'>) {
  const keys = await store.listKeys();
  return withoutOutdated(keys.toReversed(), clock()).toReversed();
}

export async function deleteKey({ store }: Pick<Dependencies, 'store'>, key_id: string) {
  const key = await store.deleteKey(key_id);
  if (key === null) throw new DomainError('key_not_found');
  return key;
}
