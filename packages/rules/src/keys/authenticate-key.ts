import {
  hashCredential,
  isLive,
  isTextOf,
  minuteToNote,
  readCredential,
} from '@latchkey/domain/credentials/credentials';
import { DomainError } from '@latchkey/domain/domain-error';
import type { Reason } from '@latchkey/domain/reasons';
import type { KeyRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

/** A plain read: during a failover it may miss a key that was just created. */
export async function isKnownKey(
  { store }: Pick<Dependencies, 'store'>,
  credential: string,
): Promise<boolean> {
  const key = await store.findKey(readCredential('key', credential), { mayBeStale: true });
  return key !== null && isTextOf(key.hash, hashCredential(credential));
}

/** Read for each request, so that a deleted key stops on every process. */
export async function authenticateKey(
  { store, clock, useNotes }: Pick<Dependencies, 'store' | 'clock' | 'useNotes'>,
  credential: string,
): Promise<KeyRecord> {
  const key_id = readCredential('key', credential);
  const refuse = (reason: Reason) => DomainError.because(reason, { key_id });
  const key = await store.findKey(key_id);
  if (key === null || !isTextOf(key.hash, hashCredential(credential))) throw refuse('key_unknown');
  const now = clock();
  if (!isLive(key, now)) throw refuse('key_expired');
  const minute = minuteToNote(key, now);
  if (minute !== null) useNotes.write(key_id, () => store.noteKeyUse(key_id, minute));
  return key;
}
