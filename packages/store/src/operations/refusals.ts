import { leastIdSince } from '@latchkey/domain/credentials/credentials';
import type { Adapter } from '../adapter.ts';
import { atLeast, type Givens } from '../condition.ts';
import type { RefusalFilter, RefusalRange } from '../inputs.ts';
import type { RecordOf } from '../kind.ts';
import { refusals as kind } from '../kinds.ts';
import type { RefusalRecord } from '../records.ts';
import { newestFirst, olderThan } from './sites.ts';

type Filter = 'request_id' | 'application_id' | 'account_id' | 'grant_id';

interface Asked {
  value: string;
  /** The least id. */
  from: string;
  before?: string | null;
}

const ALL = Object.keys(kind.fields) as (keyof typeof kind.fields)[];

const recordOf = ({ called_by, ...rest }: RecordOf<typeof kind>): RefusalRecord => ({
  ...rest,
  by: called_by,
});

export function refusals(db: Adapter) {
  const keep = db.insertNew(kind);
  const range = ({ from, before }: Givens<Asked>) => [{ id: atLeast(from) }, olderThan(before)];
  const listBy = (filter: Filter, index: string) =>
    db.list(
      kind,
      (asked: Givens<Asked>) => [{ [filter]: asked.value }, ...range(asked)],
      ALL,
      recordOf,
      { index, order: newestFirst },
    );
  const lists = {
    request_id: listBy('request_id', 'refusals_by_request'),
    application_id: listBy('application_id', 'refusals_by_application'),
    account_id: listBy('account_id', 'refusals_by_account'),
    grant_id: listBy('grant_id', 'refusals_by_grant'),
  };
  const listAll = db.list(kind, range, ALL, recordOf, { order: newestFirst });
  const findFirst = db.list(
    kind,
    (asked: Givens<Asked>) => ({ request_id: asked.value, id: atLeast(asked.from) }),
    ALL,
    recordOf,
    { index: 'refusals_by_request', order: { by: ['id'] } },
  );

  return {
    /**
     * Keeps refusals until a few minutes after they expire. Idempotent. A crash may lose them, since
     * no promise depends on them.
     */
    keepRefusals: (records: readonly RefusalRecord[]) =>
      keep(records.map(({ by, ...rest }) => ({ ...rest, called_by: by }))),

    /** The refusals of a filter, newest first. */
    findRefusals(
      filter: RefusalFilter,
      { limit, before, since = 0 }: RefusalRange,
    ): Promise<RefusalRecord[]> {
      const [[name, value] = ['all', '']] = Object.entries(filter);
      const list = lists[name as Filter] ?? listAll;
      return list({ value, from: leastIdSince(since), before, limit });
    },

    /** The oldest one with a request id, which a caller may send with every later request too. */
    async findFirstRefusal(
      request_id: string,
      { since = 0 }: Pick<RefusalRange, 'since'> = {},
    ): Promise<RefusalRecord | null> {
      const [first] = await findFirst({ value: request_id, from: leastIdSince(since), limit: 1 });
      return first ?? null;
    },
  };
}
