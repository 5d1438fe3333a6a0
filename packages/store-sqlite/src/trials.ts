import type { DatabaseSync } from 'node:sqlite';
import { uuidToBytes } from '@latchkey/schema';
import type { Trial } from '@latchkey/store/store';

export function prepareTrials(database: DatabaseSync) {
  const deleteGrant = database.prepare('DELETE FROM grants WHERE id = ?');
  const deleteAccount = database.prepare('DELETE FROM accounts WHERE id = ?');
  const deleteApplication = database.prepare('DELETE FROM applications WHERE id = ?');

  return {
    removeTrial({ grant_id, account_id, application_id }: Trial): void {
      if (grant_id !== null) deleteGrant.run(uuidToBytes(grant_id));
      deleteAccount.run(uuidToBytes(account_id));
      deleteApplication.run(uuidToBytes(application_id));
    },
  };
}
