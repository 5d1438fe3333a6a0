import type { ConnectedGrant } from '@latchkey/store/records';
import type { Parties, Store } from '@latchkey/store/store';

const PAGE = 100;

/** Has every grant that was active before the call began. */
export async function* activeGrants(
  store: Pick<Store, 'listConnected' | 'listActiveGrants'>,
  { account_id, application_id }: Parties,
): AsyncGenerator<ConnectedGrant> {
  if (application_id === undefined) {
    let after: string | null = null;
    do {
      const { connected, next } = await store.listConnected(account_id, { limit: PAGE, after });
      for (const { application_id } of connected) {
        yield* activeGrants(store, { account_id, application_id });
      }
      after = next;
    } while (after !== null);
    return;
  }
  let page: ConnectedGrant[];
  let before: string | null = null;
  do {
    page = await store.listActiveGrants({ account_id, application_id }, { limit: PAGE, before });
    yield* page;
    before = page.at(-1)?.grant_id ?? null;
  } while (page.length === PAGE);
}
