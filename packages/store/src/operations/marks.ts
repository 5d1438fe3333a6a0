import type { Adapter, Joined } from '../adapter.ts';
import type { Givens } from '../condition.ts';
import { asEnded, type Ended, endingOf, type Marked, NUMBERS } from '../endings.ts';
import type { RecordOf } from '../kind.ts';
import { accounts, applications, type grants } from '../kinds.ts';
import { byId } from './sites.ts';

type Stored = RecordOf<typeof grants>;

/** What is read of a code or a grant together with its marks, to know whether one has ended it. */
export const MARKED = ['application_id', 'revoked_at', ...NUMBERS] as const;
/** What a list reads, which looks for the marks itself. */
export const MARKABLE = ['id', 'account_id', ...MARKED] as const;
export type Markable = Pick<Stored, (typeof MARKABLE)[number]> &
  Partial<Pick<Stored, 'account' | 'choice'>>;

/** For a look-up that reads the marks of the account and the application together with the record. */
export const MARKS = {
  ofAccount: { kind: accounts, by: 'account_id', fields: ['endings'] },
  ofApplication: { kind: applications, by: 'application_id', fields: ['endings'] },
} as const;

/** As {@link asEnded}, of what was read together. */
export function endedNow<G extends Omit<Markable, 'id' | 'account_id'>>({
  ofAccount,
  ofApplication,
  ...grant
}: G & { ofAccount: Marked; ofApplication: Marked }) {
  return asEnded(grant as unknown as G, ofAccount, ofApplication);
}

/** Before a write to a code or a grant. A mark that comes after this ends the grant: see decision 87. */
export const UNENDED = {
  where: ({ grant_id }: Givens<{ grant_id: string }>) => ({ id: grant_id }),
  fields: MARKED,
  joins: MARKS,
  allows: ({
    ofAccount,
    ofApplication,
    ...found
  }: Omit<Markable, 'id' | 'account_id'> & Joined<typeof MARKS>) =>
    found.revoked_at === null && endingOf(found, ofAccount, ofApplication) === null,
};

const MOST_AT_ONCE = 1_000;

export type MarksInside = ReturnType<typeof marksInside>;

/** For lists. The marks are read after the records: one that is done meanwhile is still found. */
export function marksInside(db: Adapter) {
  const find = (kind: typeof accounts | typeof applications) =>
    db.find(kind as typeof accounts, byId, ['endings'], (marked: NonNullable<Marked>) => marked);
  const findAccount = find(accounts);
  const findApplication = find(applications as unknown as typeof accounts);

  async function withMarks<G extends Markable, R>(
    records: readonly G[],
    result: (record: G, account: Marked, application: Marked) => R,
  ): Promise<R[]> {
    const ofAccount = atMostOnce((id) => findAccount({ id }));
    const ofApplication = atMostOnce((id) => findApplication({ id }));
    return Promise.all(
      records.map(async (record) => {
        const { account_id, application_id } = record;
        // Only a `RevokedRecord` is left.
        if (account_id === null) return result(record, null, null);
        const marks = await Promise.all([ofAccount(account_id), ofApplication(application_id)]);
        return result(record, ...marks);
      }),
    );
  }

  const shown = <G extends Markable>(records: readonly G[]): Promise<G[]> =>
    withMarks(records, (...of) => asEnded(...of));

  return {
    /** The marks of an account. */
    findAccount,

    /** As a reader sees them. */
    shown,

    /**
     * How each of these was ended; those of one mark together.
     *
     * @param otherwise - where no mark is there any more
     */
    async endedOf(records: readonly Markable[], otherwise: Ended) {
      const all = await withMarks(records, (record, ...of) => ({
        ...{ id: record.id, by: endingOf(record, ...of) ?? otherwise },
      }));
      const byMark = Map.groupBy(all, ({ by }) => JSON.stringify(by));
      return [...byMark.values()].flatMap((of) =>
        of[0] === undefined ? [] : { ids: of.map(({ id }) => id), ...of[0].by },
      );
    },

    /**
     * Some of a list as a reader sees them, at most `limit`. Many may be passed over, such as those that are ended and
     * not written down yet, so each part is larger than the one before.
     *
     * @param read - the next part of the list, newest first
     */
    async seen<G extends Markable>(
      read: (range: { before: string | null; limit: number }) => Promise<G[]>,
      which: (one: Markable) => boolean,
      { limit, ...range }: { before: string | null; limit: number },
    ): Promise<G[]> {
      const found: G[] = [];
      let { before } = range;
      for (let part = limit; ; part = Math.max(limit, Math.min(part * 4, MOST_AT_ONCE))) {
        const some = await read({ before, limit: part });
        found.push(...(await shown(some)).filter(which));
        before = some.at(-1)?.id ?? null;
        if (some.length < part || found.length >= limit) return found.slice(0, limit);
      }
    },
  };
}

export const isActive = ({ revoked_at }: Pick<Stored, 'revoked_at'>) => revoked_at === null;

function atMostOnce<T>(find: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const found = new Map<string, Promise<T>>();
  return (id) => {
    const known = found.get(id) ?? find(id);
    found.set(id, known);
    return known;
  };
}
