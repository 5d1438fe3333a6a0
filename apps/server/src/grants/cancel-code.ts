import { DomainError } from '../domain-error.ts';
import type { Service } from '../service.ts';
import type { PendingRecord } from '../store/records.ts';

export async function cancelCode({ store }: Service, grant_id: string): Promise<PendingRecord> {
  const pending = await store.cancelCode(grant_id);
  if (pending !== null) return pending;
  const history = await store.findGrantHistory(grant_id);
  throw DomainError.because(history === null ? 'grant_unknown' : 'code_redeemed', { grant_id });
}
