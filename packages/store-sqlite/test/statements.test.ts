import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../src/sqlite-store.ts';

// The database has no statistics, so a plan is the same at any size of it.

/** What may read a whole table: one that has few rows, whatever the service did. */
const small = [
  'scopes',
  'resources',
  'keys',
  'deleted_applications',
  'command_changes',
  'schema_version',
  'use_mark',
  'log_counter',
  'live_count',
  'sqlite_master',
  // A list, and a row, that are parameters.
  'json_each',
  'CONSTANT',
];

/** What may read from the beginning, since it stops at a LIMIT: a page of a list, or any row but one. */
const pages = ['applications', 'outbox', 'endpoints'];

describe('a statement for SQLite', () => {
  const prepared = new Set<string>();
  let database: DatabaseSync;

  beforeAll(async () => {
    const { prepare } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    spy.mockImplementation(function (this: DatabaseSync, sql, ...options) {
      database = this;
      prepared.add(sql);
      return prepare.call(this, sql, ...options);
    });
    const options = { path: ':memory:', clock: Date.now, revokedGrantDays: 1 };
    const { close: _, ...methods } = await openSqliteStore(options);
    // The first use of a group prepares its statements, whatever becomes of the call.
    for (const method of Object.values(methods) as (() => Promise<unknown>)[]) {
      await method().catch(() => undefined);
    }
    spy.mockRestore();
  });
  afterAll(() => database.close());

  const planOf = (sql: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));

  const found = (words: string) => {
    const statements = [...prepared].filter((sql) => sql.replace(/\s+/g, ' ').includes(words));
    expect(statements, words).toHaveLength(1);
    return planOf(statements[0] ?? '');
  };

  test('reads no table from its beginning to its end', () => {
    const explained = [...prepared].filter((sql) => /^\s*(SELECT|UPDATE|DELETE|INSERT)/.test(sql));
    expect(explained.length).toBeGreaterThan(50);
    const scans = explained.flatMap((sql) =>
      planOf(sql).flatMap((detail) => {
        const [, table = ''] = /^SCAN (\w+)/.exec(detail) ?? [];
        const isPage = pages.includes(table) || !/WHERE/.test(sql);
        const isBounded = isPage && /LIMIT/.test(sql);
        if (table === '' || small.includes(table) || isBounded) return [];
        return `${detail}: ${sql}`;
      }),
    );
    expect(
      scans,
      'Find the rows by a key or an index, or add the table above, with the reason',
    ).toEqual([]);
  });

  test.each([
    ['json_group_array(DISTINCT scope)', 'account_id=?'],
    [
      'scope, created_at, last_used_at, revoked_at FROM grants WHERE account_id = :account_id AND application_id',
      'account_id=? AND application_id=? AND id<?',
    ],
    ['AND created_at IS NULL ORDER BY id DESC', 'account_id=?'],
    ['AND revoked_at IS NULL AND created_at IS NULL LIMIT', 'account_id=?'],
  ])('about a connection passes over what was revoked: %s', (words, key) => {
    expect(found(words).join('\n')).toContain(`INDEX unrevoked_by_account (${key})`);
  });

  test('about the active grants of an application passes over what was revoked', () => {
    const words = 'last_used_at, revoked_at FROM grants WHERE application_id = :application_id AND';
    expect(found(words).join('\n')).toContain(
      'INDEX unrevoked_by_application (application_id=? AND id<?)',
    );
  });

  test.each([
    ['request_id = :value', 'INDEX refusals_by_request (request_id=? AND id>? AND id<?)'],
    [
      'application_id = :value',
      'INDEX refusals_by_application (application_id=? AND id>? AND id<?)',
    ],
    ['account_id = :value', 'INDEX refusals_by_account (account_id=? AND id>? AND id<?)'],
    ['grant_id = :value', 'INDEX refusals_by_grant (grant_id=? AND id>? AND id<?)'],
    ['id >= :from AND id < :before', 'PRIMARY KEY (id>? AND id<?)'],
    ['request_id = :request_id', 'INDEX refusals_by_request (request_id=? AND id>?)'],
  ])('that lists refusals sorts none: WHERE %s', (words, index) => {
    expect(found(`FROM refusals WHERE ${words}`)).toEqual([`SEARCH refusals USING ${index}`]);
  });

  test.each([
    ['account_id = :account_id AND application_id', 'account (account_id=? AND application_id=?)'],
    ['account_id = :account_id AND revoked_at', 'account (account_id=?)'],
    ['application_id = :application_id', 'application (application_id=?)'],
  ])('that revokes a page of grants sorts none: %s', (words, index) => {
    const plan = found(`IN (SELECT id FROM grants WHERE ${words}`).join('\n');
    expect(plan).toContain(`INDEX unrevoked_by_${index}`);
    expect(plan).not.toContain('TEMP B-TREE');
  });
});
