import type { Dependencies } from '../dependencies.ts';
import { accountSubject, afterChange, DomainError } from '../domain-error.ts';
import { isOver } from '../store/generations.ts';
import type { PendingRecord } from '../store/records.ts';

export async function cancelCode(
  { store }: Pick<Dependencies, 'store'>,
  grant_id: string,
): Promise<PendingRecord> {
  const pending = await store.cancelCode(grant_id);
  if (pending !== null) {
    const application = await afterChange(() => store.findApplication(pending.application_id), {
      grant_id,
    });
    if (application === null || !isOver(pending, application)) return pending;
    throw DomainError.because('grant_unknown', { grant_id, account_id: pending.account.id });
  }
  const history = await store.findGrantHistory(grant_id);
  throw DomainError.because(history === null ? 'grant_unknown' : 'code_redeemed', {
    grant_id,
    ...accountSubject(history?.account_id),
  });
}
