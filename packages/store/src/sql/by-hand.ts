import type { Milliseconds } from '@latchkey/domain/clock';
import { COUNTS_KEPT } from '@latchkey/domain/lifetimes';
import type { Input } from '../condition.ts';
import { DEMO_ENDPOINT_ID } from '../events-keys.ts';
import type { AnyKind } from '../kind.ts';
import * as kinds from '../kinds.ts';
import type { ByHand } from '../operations/by-hand.ts';
import type { HourCounts, LiveCount, WindowCount } from '../records.ts';
import { type Counts, liveChange, type Store } from '../store.ts';
import type { Page } from '../transfer.ts';
import type { ClaimedDatabase, UseMark, UseMarks } from '../use-mark.ts';
import {
  type Dialect,
  decoderOf,
  type SqlSender,
  type SqlSite,
  type Statement,
} from './statement.ts';

const pendingEndpoint = (behind: string) => `(
  SELECT endpoint_id FROM deliveries d WHERE due_at IS NOT NULL${behind}
  ORDER BY endpoint_id LIMIT 1)`;

/** Goes from one endpoint in an index to the next one, however many deliveries each has. */
const PENDING = `
  WITH RECURSIVE pending (id) AS (
    SELECT ${pendingEndpoint('')}
    UNION ALL
    SELECT ${pendingEndpoint(' AND endpoint_id > pending.id')} FROM pending WHERE pending.id IS NOT NULL)`;

/** Less than every id. */
const NO_ID = '00000000-0000-0000-0000-000000000000';

const alongOf = (dialect: Dialect, index: string) => dialect.along?.(index) ?? '';

/** What no condition says, as far as every SQL database has the same words for it. */
export function sqlByHand(
  dialect: Dialect,
  { read }: SqlSender,
): Omit<ByHand, 'emptyLog' | 'sweepExpired'> {
  const { least } = dialect;
  const id = dialect.decode.id as (value: unknown) => string;

  const withDue = read<{ by: Milliseconds }, string[]>({
    text: (statement) => `${PENDING}
      SELECT id FROM pending
      WHERE EXISTS (SELECT 1 FROM deliveries WHERE endpoint_id = pending.id AND due_at <= ${statement.given('by', 'time')})`,
    result: (rows) => rows.map((row) => id(row.id)),
  });
  const counted = read<{ limit: number }, Awaited<ReturnType<ByHand['countPending']>>>({
    text(statement) {
      const limit = () => statement.given('limit', 'number');
      return `${PENDING},
        recorded AS (SELECT at FROM marks LIMIT ${limit()}),
        due AS (
          SELECT 1 FROM pending JOIN deliveries d ON d.endpoint_id = pending.id AND d.due_at IS NOT NULL LIMIT ${limit()}),
        oldest AS (
          SELECT (SELECT created_at FROM deliveries
            WHERE endpoint_id = pending.id AND status = 'pending' ORDER BY id LIMIT 1) AS at
          FROM pending)
        SELECT ${least}(${limit()}, (SELECT count(*) FROM recorded) + (SELECT count(*) FROM due)) AS pending,
          (SELECT min(at) FROM (SELECT at FROM recorded UNION ALL SELECT at FROM oldest) told) AS oldest_at`;
    },
    result: ([row]) => ({ pending: row?.pending, oldest_at: row?.oldest_at }),
  });

  return {
    endpointsWithDue: (by) =>
      withDue({ by: Math.min(by, Number.MAX_SAFE_INTEGER) as Milliseconds }),
    countPending: (limit) => counted({ limit }),
  };
}

export function sqlCounts(dialect: Dialect, { read, write }: SqlSender): Counts {
  const { fenced, unfenced, least } = dialect;
  const id = dialect.decode.id as (value: unknown) => string;

  // In the order of the names, so that two of them never wait for each other.
  const addHour = write<HourCounts, void>({
    text: (statement) => `
      INSERT INTO hour_counts AS found (hour, name, count)
      SELECT ${statement.given('hour', 'time')}, key, CAST(value AS bigint)
      FROM ${dialect.membersOf}(${statement.given('counts', 'json')}) WHERE TRUE${fenced} ORDER BY key
      ON CONFLICT (hour, name) DO UPDATE SET count = found.count + excluded.count`,
    result: () => undefined,
  });
  const addLive = write<{ change: number }, void>({
    text: (statement) =>
      `UPDATE live_count SET count = count + ${statement.given('change', 'number')} WHERE TRUE${fenced}`,
    result: () => undefined,
  });
  const decode = dialect.decode.json as (value: unknown) => HourCounts['counts'];
  const listCounts = read<Parameters<Store['listCounts']>[0], HourCounts[]>({
    text: (statement) => `
      SELECT hour, ${dialect.objectOf}(name, count) AS counts FROM hour_counts
      WHERE hour >= ${statement.given('since', 'time')} AND hour < ${statement.given('until', 'time')}
      GROUP BY hour ORDER BY hour`,
    result: (rows) => rows.map(({ hour, counts }) => ({ hour, counts: decode(counts) })),
  });

  const live = read<object, LiveCount | null>({
    text: () => 'SELECT count, counted_at FROM live_count',
    result: ([row]) => (row ? { count: row.count, counted_at: row.counted_at } : null),
  });
  const keepLive = write<object, void>({
    text: (statement) => `
      INSERT INTO live_count (name, count, counted_at)
      SELECT 'live', ${statement.given('count', 'number')}, ${statement.given('counted_at', 'time')} WHERE TRUE${fenced}
      ON CONFLICT (name) DO UPDATE SET count = excluded.count, counted_at = excluded.counted_at`,
    result: () => undefined,
  });

  /** The last key of a part of an index, and how many keys the part has. */
  const partOf = (index: string, first: string, condition: string) =>
    read<object, { count: number; place: string[] }>({
      text: (statement) => `
        WITH part AS MATERIALIZED (
          SELECT ${first}, id FROM grants${alongOf(dialect, index)}
          WHERE ${condition} AND (${first}, id) > (${statement.given('first', 'id')}, ${statement.given('second', 'id')})
          ORDER BY ${first}, id LIMIT ${statement.given('limit', 'number')})
        SELECT ${first} AS first, id, (SELECT count(*) FROM part) AS count FROM part
        ORDER BY ${first} DESC, id DESC LIMIT 1`,
      result: ([row]) =>
        row ? { count: row.count, place: [id(row.first), id(row.id)] } : { count: 0, place: [] },
    });
  // No index has active grants alone: they are what is not revoked, without the pending codes.
  const codes = partOf('codes_by_account', 'account_id', 'code_expires_at IS NOT NULL');
  const unrevoked = partOf('unrevoked_by_application', 'application_id', 'revoked_at IS NULL');

  const addToCount = write<object, WindowCount>({
    text(statement: Statement) {
      const [key, points] = [statement.given('key', 'text'), statement.given('points', 'number')];
      const now = () => statement.given('now', 'time');
      // A process whose clock is ahead must not start a window that outlasts one of ours.
      return `
        INSERT INTO rate_limit_counts AS found (key, count, ends_at)
        SELECT ${key}, ${points}, ${now()} + ${statement.given('duration', 'number')} WHERE TRUE${unfenced}
        ON CONFLICT (key) DO UPDATE SET
          count = CASE WHEN found.ends_at > ${now()} THEN found.count ELSE 0 END + excluded.count,
          ends_at = CASE WHEN found.ends_at > ${now()} THEN ${least}(found.ends_at, excluded.ends_at) ELSE excluded.ends_at END
        RETURNING count, ends_at`;
    },
    result: ([row]) => ({ count: row?.count, ends_at: row?.ends_at }),
  });

  return {
    async addCounts(added) {
      await addHour(added);
      const change = liveChange(added.counts);
      // The next count of all puts it right. An error would count the hour twice, for good.
      if (change !== 0) await addLive({ change }).catch(() => undefined);
    },
    listCounts,
    findLiveCount: () => live({}),
    keepLiveCount: keepLive,
    async countActiveGrants({ after, limit }) {
      const [stage = 'codes', first = NO_ID, second = NO_ID] = after ?? [];
      const find = stage === 'codes' ? codes : unrevoked;
      const { count, place } = await find({ first, second, limit });
      const next = count === limit ? [stage, ...place] : stage === 'codes' ? ['unrevoked'] : null;
      return { count: stage === 'codes' ? 0 - count : count, after: next };
    },

    addToCount,
  };
}

/** The records of a kind that a copy brings. */
export const copiedOf = ({ copied }: AnyKind) =>
  copied === 'all' || copied === undefined ? 'TRUE' : `${copied.set} IS NOT NULL`;

/** A page of what a copy brings. */
export function pageSite(dialect: Dialect, kind: AnyKind): SqlSite<Page, Input[]> {
  const { name, key, fields } = kind;
  const names = Object.keys(fields);
  const decode = decoderOf(dialect, kind, names);
  return {
    terms: [{ is: 'optional', given: 'after', isGiven: true, terms: [] }],
    text(statement, { after }) {
      const behind =
        after === null ? '' : ` AND ${key} > ${statement.given('after', fields[key].type)}`;
      return `SELECT ${names.join(', ')} FROM ${name} WHERE ${copiedOf(kind)}${behind}${dialect.fenced} ORDER BY ${key} LIMIT ${statement.given('limit', 'number')}`;
    },
    result: (rows) => rows.map(decode),
  };
}

interface Swept {
  table: string;
  key: string;
  expiry: string;
  kept: Milliseconds;
}

const swept: readonly Swept[] = [
  ...Object.values<AnyKind>(kinds).flatMap(({ name: table, key, expiry }) =>
    expiry ? { table, key, expiry: expiry.at, kept: expiry.kept ?? 0 } : [],
  ),
  { table: 'rate_limit_counts', key: 'key', expiry: 'ends_at', kept: 0 },
  { table: 'hour_counts', key: 'hour', expiry: 'hour', kept: COUNTS_KEPT },
];

/** @param remove - prepares a removal of some that have expired by `now`. Returns how many it has removed */
export function sweepsOf(
  remove: (swept: Swept) => (input: { now: Milliseconds; limit: number }) => Promise<number>,
): NonNullable<ByHand['sweepExpired']> {
  const sweeps = swept.map((one) => ({ remove: remove(one), kept: one.kept }));
  return async (now, limit) => {
    let isMore = false;
    for (const { remove, kept } of sweeps) {
      isMore = (await remove({ now: now - kept, limit })) >= limit || isMore;
    }
    return isMore;
  };
}

/** The mark of a call, as it is stored. */
const given = (statement: Statement, name: 'before' | 'after') =>
  statement.raw((input) => JSON.stringify(input[name]), 'text');

export const markSite = ({ fenced }: Dialect): SqlSite<void, UseMark | null> => ({
  text: () => `SELECT mark FROM use_mark WHERE TRUE${fenced}`,
  result: ([row]) => (row === undefined ? null : JSON.parse(row.mark)),
});

/** Whether it was replaced. */
export const replacementSite = ({
  fenced,
}: Dialect): SqlSite<{ before: UseMark | null; after: UseMark }, boolean> => ({
  terms: [{ is: 'optional', given: 'before', isGiven: true, terms: [] }],
  text: (statement, { before }) =>
    before === null
      ? `INSERT INTO use_mark (mark) SELECT ${given(statement, 'after')} WHERE TRUE${fenced} ON CONFLICT DO NOTHING RETURNING TRUE`
      : `UPDATE use_mark SET mark = ${given(statement, 'after')} WHERE mark = ${given(statement, 'before')}${fenced} RETURNING TRUE`,
  result: ({ length }) => length === 1,
});

export function sqlUseMarks(dialect: Dialect, { read, write }: SqlSender): UseMarks {
  const replace = write(replacementSite(dialect));
  return {
    find: read(markSite(dialect)),
    replace: (before, after) => replace({ before, after }),
  };
}

/** @param name - in messages */
export const sqlClaimed = (dialect: Dialect, sender: SqlSender, name: string): ClaimedDatabase => ({
  ...sqlUseMarks(dialect, sender),
  name,
  hasEndpoints: sender.read<void, boolean>({
    text: () =>
      `SELECT 1 FROM endpoint_owners, ${dialect.eachOf}(ids) AS id WHERE id.value <> '${DEMO_ENDPOINT_ID}' LIMIT 1`,
    result: ({ length }) => length > 0,
  }),
});
