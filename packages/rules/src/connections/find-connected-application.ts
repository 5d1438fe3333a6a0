import type { ApplicationRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';

export async function findConnectedApplication(
  { store }: Pick<Dependencies, 'store'>,
  { account_id, application_id }: { account_id: string; application_id: string },
): Promise<ApplicationRecord | null> {
  const one = { limit: 1, before: null };
  const [grant] = await store.listActiveGrants({ account_id, application_id }, one);
  return grant === undefined ? null : store.findApplication(application_id);
}
