import type { Adapter } from '../adapter.ts';
import type { Trial } from '../inputs.ts';
import { accounts, applications, grants } from '../kinds.ts';
import { byId } from './sites.ts';

export function trials(db: Adapter) {
  const removeGrant = db.removeSome(grants, byId);
  const removeAccount = db.removeSome(accounts, byId);
  const removeApplication = db.removeSome(applications, byId);
  return {
    /**
     * Deletes the records of a trial for good, an active grant too. Nobody else knows their ids, so
     * nothing has to refuse them later. Idempotent.
     */
    async removeTrial({ grant_id, account_id, application_id }: Trial): Promise<void> {
      if (grant_id !== null) await removeGrant({ id: grant_id });
      await removeAccount({ id: account_id });
      await removeApplication({ id: application_id });
    },
  };
}
