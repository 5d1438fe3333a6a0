import type { Adapter } from '../adapter.ts';
import type { Givens } from '../condition.ts';
import { accounts, applications, grants } from '../kinds.ts';
import type { Store } from '../store.ts';

export function trials(db: Adapter): Pick<Store, 'removeTrial'> {
  const byId = ({ id }: Givens<{ id: string }>) => ({ id });
  const removeGrant = db.removeSome(grants, byId);
  const removeAccount = db.removeSome(accounts, byId);
  const removeApplication = db.removeSome(applications, byId);
  return {
    async removeTrial({ grant_id, account_id, application_id }) {
      if (grant_id !== null) await removeGrant({ id: grant_id });
      await removeAccount({ id: account_id });
      await removeApplication({ id: application_id });
    },
  };
}
