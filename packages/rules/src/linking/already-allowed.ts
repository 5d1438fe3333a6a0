import { setImmediate } from 'node:timers/promises';
import { isUnusedSince, unusedBefore } from '@latchkey/store/store';
import type { Dependencies } from '../dependencies.ts';
import { scopeWithOptional } from './asked-scope.ts';
import type { LinkAccess } from './link-access.ts';

// An account with more grants of one application sees what the newest allow.
const MOST_GRANTS = 1_000;
// No limit counts these pages, so whoever has more than these reads for one page at a time.
const PART = 100;

/** What the account allows the application at the same resource by now, and is not asked again. */
export async function listAlreadyAllowed(
  { store, clock, lists }: Pick<Dependencies, 'store' | 'clock' | 'lists'>,
  { link, application }: Pick<LinkAccess, 'link' | 'application'>,
  account_id: string,
): Promise<ReadonlySet<string>> {
  const { id: application_id } = application;
  const allowed = new Set<string>();
  if (application_id === null) return allowed;
  const resource = link.resource?.resource ?? null;
  const idleSince = unusedBefore(application, clock());
  let before: string | null = null;
  let endTurn: (() => void) | null = null;
  try {
    for (let read = 0; read < MOST_GRANTS; read += PART) {
      if (read === PART) endTurn = await lists.turns.begin(account_id);
      // SQLite reads within the turn of the event loop. Others are handled between two parts.
      if (read > PART) await setImmediate();
      const range = { limit: PART, before };
      const grants = await store.listActiveGrants({ account_id, application_id }, range);
      for (const grant of grants) {
        const isIdle = idleSince !== null && isUnusedSince(grant, idleSince);
        if (grant.resource !== resource || isIdle) continue;
        for (const token of grant.scope.split(' ')) allowed.add(token);
      }
      before = grants.at(-1)?.grant_id ?? null;
      if (grants.length < PART) break;
    }
  } finally {
    endTurn?.();
  }
  for (const token of scopeWithOptional(link).split(' ')) allowed.delete(token);
  return allowed;
}
