import type { ApplicationRecord, GrantRecord } from '@latchkey/store/records';
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
  const connection = { account_id, application_id };
  const [active] = await store.listActiveGrants(connection, { limit: 1, before: null });
  if (active !== undefined) return null;
  let before: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    const grants = await store.listGrants({ account_id }, { limit: PAGE, before });
    const isOwn = (grant: GrantRecord) => grant.application_id === application_id;
    if (grants.some(isOwn)) return store.findApplication(application_id);
    if (grants.length < PAGE) return null;
    before = grants.at(-1)?.grant_id ?? null;
  }
  return null;
}
