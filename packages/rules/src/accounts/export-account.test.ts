import { randomUUID } from 'node:crypto';
import { newId } from '@latchkey/domain/credentials/credentials';
import type { GrantRecord, ListedHistory, RefusalRecord } from '@latchkey/store/records';
import type { ListRange } from '@latchkey/store/store';
import { expect, test } from 'vitest';
import { type ExportingService, type ExportPart, exportAccount } from './export-account.ts';
import { createExportTurns } from './export-turns.ts';

const account = {
  ...{ id: randomUUID(), username: 'ada', display_name: 'Ada', twitter: null },
  ...{ verified: true, supporter: false },
};
const ISSUED = 1_790_000_000_000;

// More changes and refusals than are held, and many at the same time.
const histories = Array.from({ length: 6_000 }, (_, index): ListedHistory => {
  const at = ISSUED + ((index * 7_919) % 1_000);
  return {
    ...{ grant_id: newId(ISSUED - index), application_id: randomUUID(), account_id: account.id },
    ...{ issued_by: null, created_at: at, redeemed_by: null, link_id: null },
    ...{ recoveries: 0, recovered_at: null, recovered_by: null },
    ...{ first_used_at: at, first_used_by: null },
    ...{ revoked_at: ISSUED + 1_000 - (index % 10), revoked_by: null, revoked_reason: null },
  };
});
const byGrant = new Map(
  histories.map(({ grant_id }, index) => [
    grant_id,
    Array.from(
      { length: index === 0 ? 250 : 2 },
      (_, nth): RefusalRecord => ({
        ...{ id: newId(ISSUED + index - nth), at: ISSUED + index - nth, request_id: `${nth}` },
        ...{ operation: 'grants.convert', error_code: 'code_already_used', reason: null },
        ...{ by: null, application_id: null, account_id: null, grant_id, key_id: null },
        ...{ address: null, expires_at: 0 },
      }),
    ),
  ]),
);

// One is of a grant too.
const [named] = [...byGrant.values()].flat() as [RefusalRecord];
named.account_id = account.id;
const withoutGrant = { ...named, id: newId(ISSUED + 10_000), at: ISSUED + 10_000, grant_id: null };
const ofAccount = [withoutGrant, named];

function rangeOf<T>(records: T[], id: (record: T) => string, { limit, before }: ListRange): T[] {
  return records.filter((record) => before === null || id(record) < before).slice(0, limit);
}

const service: ExportingService = {
  exportTurns: createExportTurns(),
  audit: { flush: async () => {} },
  store: {
    findAccount: async () => account,
    listCodes: async () => [],
    findApplication: async () => null,
    findGrantHistory: async () => null,
    listGrants: async (_, range) =>
      rangeOf(histories, ({ grant_id }) => grant_id, range).map(
        ({ grant_id, application_id, created_at, revoked_at }): GrantRecord => ({
          ...{
            grant_id,
            application_id,
            resource: null,
            choice: null,
            scope: '',
            created_at: created_at ?? 0,
            account,
          },
          ...{ last_used_at: null, revoked_at },
        }),
      ),
    listGrantHistories: async (_, range) => rangeOf(histories, ({ grant_id }) => grant_id, range),
    findRefusals: async (filter, range) => {
      const ofGrant = 'grant_id' in filter ? byGrant.get(String(filter.grant_id)) : undefined;
      const found = 'account_id' in filter ? ofAccount : (ofGrant ?? []);
      return rangeOf(found, ({ id }) => id, range);
    },
  },
};

test('an export has every entry once, the changes and the refusals oldest first', async () => {
  const lists: Record<string, unknown[]> = {};
  let most = 0;
  for await (const part of exportAccount(service, account.id) as AsyncGenerator<ExportPart>) {
    if (part.list === null) continue;
    lists[part.list] = [...(lists[part.list] ?? []), ...part.entries];
    most = Math.max(most, part.entries.length);
  }
  expect(Object.keys(lists)).toEqual(['grants', 'codes', 'history', 'refusals']);
  // A page.
  expect(most).toBe(100);
  expect(lists.grants).toMatchObject(histories.map(({ grant_id }) => ({ grant_id })));

  const times =
    (names: string[]) =>
    (changes: unknown[] = []) =>
      (changes as { at: number; operation: string; grant_id: string }[])
        .filter(({ operation }) => names.includes(operation))
        .map(({ at, grant_id }) => `${at} ${grant_id}`);
  const history = lists.history as { at: number; grant_id: string; operation: string }[];
  expect(history.map(({ at }) => at)).toEqual(
    history.map(({ at }) => at).toSorted((one, other) => one - other),
  );
  expect(new Set(times(['admin.codes.issue'])(history))).toEqual(
    new Set(histories.map(({ grant_id }, index) => `${ISSUED - index} ${grant_id}`)),
  );
  const redeemed = histories.map(({ created_at, grant_id }) => `${created_at} ${grant_id}`);
  expect(times(['grants.convert'])(history).toSorted()).toEqual(redeemed.toSorted());
  expect(times(['first_use'])(history)).toEqual(times(['grants.convert'])(history));
  expect(history).toHaveLength(4 * histories.length);

  const all = [...byGrant.values()].flat().concat(withoutGrant);
  const refusals = lists.refusals as RefusalRecord[];
  expect(refusals.map(({ at }) => at)).toEqual(
    all.map(({ at }) => at).toSorted((one, other) => one - other),
  );
  expect(new Set(refusals.map(({ id }) => id)).size).toBe(all.length);
});
