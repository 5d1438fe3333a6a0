import type { ApplicationRecord } from '@latchkey/store/records';
import type { ConnectionIds } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';

const PAGE = 100;
// A bound on the reads: no index leads to the revoked grants of a connection.
const MAX_PAGES = 10;

/** The application, if one of the newest 1000 grants of the account was for it and none is active. */
export async function findEndedConnection(
  { store }: Pick<Dependencies, 'store'>,
  { account_id, application_id }: ConnectionIds,
): Promise<ApplicationRecord | null> {
  let before: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const grants = await store.listGrants({ account_id }, { limit: PAGE, before });
    const own = grants.filter((grant) => grant.application_id === application_id);
    if (own.some(({ revoked_at }) => revoked_at === null)) return null;
    if (own.length > 0) return store.findApplication(application_id);
    if (grants.length < PAGE) return null;
    before = grants.at(-1)?.grant_id ?? null;
  }
  return null;
}
