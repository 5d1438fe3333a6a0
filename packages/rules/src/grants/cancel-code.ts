import { accountSubject, afterChange, DomainError } from '@latchkey/domain/domain-error';
import { isOver } from '@latchkey/store/generations';
import type { PendingRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

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
