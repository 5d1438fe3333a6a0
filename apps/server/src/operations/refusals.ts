import type { Milliseconds } from '@latchkey/domain/clock';
import { DomainError } from '@latchkey/domain/domain-error';
import { beforeDeadline } from '@latchkey/domain/request-scope';
import type { Service } from '@latchkey/rules/service';
import type { List, Refusal, ValidatedInput } from '@latchkey/schema';
import type { RefusalFilter } from '@latchkey/store/store';
import { idOfCursor, type ListInput, pageOf, readList } from './list.ts';
import type { OperationRows } from './row.ts';
import { toRefusal } from './wire.ts';

export const refusalRows: OperationRows<'admin.refusals'> = {
  'admin.refusals.list': {
    audited: 'refusals',
    ids: {
      application_id: 'input.application_id',
      account_id: 'input.account_id',
      grant_id: 'input.grant_id',
    },
    handle: listRefusals,
  },
};

async function listRefusals(
  { store, clock, audit, redact }: Service,
  { since: from, limit, cursor, request_id, ...filter }: ValidatedInput<'admin.refusals.list'>,
): Promise<List<Refusal>> {
  const since = from === undefined ? undefined : Date.parse(from);
  if (since !== undefined && since > clock()) {
    throw DomainError.invalid(['since'], 'Must not lie in the future.');
  }
  // Refusals are written in the background.
  await beforeDeadline(audit.flush());
  if (request_id !== undefined) {
    // Stored request ids are redacted, so one that contains a credential is found only redacted.
    return listOfRequest(store, redact(request_id), since, { limit, cursor });
  }
  return readList(
    { limit, cursor },
    (range) => store.findRefusals(filterOf(filter), { ...range, since }),
    ({ id }) => id,
    toRefusal,
  );
}

type Filter = Pick<
  ValidatedInput<'admin.refusals.list'>,
  'application_id' | 'account_id' | 'grant_id'
>;

function filterOf({ application_id, account_id, grant_id }: Filter): RefusalFilter {
  if (application_id !== undefined) return { application_id };
  if (account_id !== undefined) return { account_id };
  return grant_id === undefined ? {} : { grant_id };
}

// In a list, newest first, this comes before every refusal. The page before it has only the first refusal.
const NEWEST = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * A caller may send one id with all of its requests. So that later refusals cannot hide the first, the
 * first page ends with it, and the others leave it out.
 */
async function listOfRequest(
  store: Service['store'],
  request_id: string,
  since: Milliseconds | undefined,
  { limit, cursor }: ListInput,
): Promise<List<Refusal>> {
  const first = await store.findFirstRefusal(request_id, { since });
  if (first === null) return pageOf([], null);
  const before = idOfCursor(cursor);
  const room = before === null ? limit - 1 : limit;
  // The first one may be among them, and one more shows whether there are more.
  const range = { limit: room + 2, before, since };
  const others = (await store.findRefusals({ request_id }, range)).filter(
    ({ id }) => id !== first.id,
  );
  const shown = others.slice(0, room);
  const next = others.length > room ? (shown.at(-1)?.id ?? NEWEST) : null;
  return pageOf([...shown, ...(before === null ? [first] : [])].map(toRefusal), next);
}
