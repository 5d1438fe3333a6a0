import { DatabaseSync } from 'node:sqlite';
import { everyOperation, rowsBeside } from '@latchkey/store-suite/every-operation';
import { anApplication, anId, granted } from '@latchkey/store-suite/records';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openSqliteStore } from '../src/sqlite-store.ts';

// The database has no statistics, so a plan is the same at any size of it.

/** What may read a whole table: one that has few rows, whatever the service did. */
const small = [
  'scopes',
  'resources',
  'keys',
  'command_changes',
  'schema_version',
  'use_mark',
  'log_counter',
  'live_count',
  'sqlite_master',
  // The endpoints that have something pending: the walk finds each by the index.
  'pending',
  // The applications that an account is connected with, in the same way.
  'connected',
  // What a part of the statement has found, up to its LIMIT.
  ...['counted', 'recorded', 'due', 'part'],
  // A list, and a row, that are parameters.
  'json_each',
  'CONSTANT',
];

/** What may read from the beginning, since it stops at a LIMIT: a page of a list, a count, or any row but one. */
const pages = ['kept_documents', 'marks', 'endpoints', 'endpoint_owners', 'd'];

const withoutComments = (sql: string) => sql.replace(/--.*$/gm, '');

describe('a statement for SQLite', () => {
  const prepared = new Set<string>();
  let database: DatabaseSync;

  beforeAll(async () => {
    const { prepare } = DatabaseSync.prototype;
    const spy = vi.spyOn(DatabaseSync.prototype, 'prepare');
    spy.mockImplementation(function (this: DatabaseSync, sql, ...options) {
      database = this;
      prepared.add(withoutComments(sql).replace(/\s+/g, ' ').trim());
      return prepare.call(this, sql, ...options);
    });
    const store = await openSqliteStore({
      ...{ path: ':memory:', clock: Date.now, revokedGrantDays: 1, recordsEvents: true },
    });
    const application = anApplication();
    await store.createApplication(application);
    const { grant } = await granted(store, { application_id: application.id });
    await rowsBeside(store, 1);
    const past = { account: grant.account, application_id: application.id, before: anId() };
    await everyOperation(store, past);
    spy.mockRestore();
  });
  afterAll(() => database.close());

  const isOfRows = (sql: string) => /^(SELECT|WITH|UPDATE|DELETE|INSERT|REPLACE)/.test(sql);
  const planOf = (sql: string) =>
    database
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => String(detail));

  // In the pull request, a reader sees what is sent now, and by which index.
  test('is as it was reviewed, with its plan', async () => {
    const statements = [...prepared].filter(isOfRows).sort();
    expect(statements.length).toBeGreaterThan(100);
    const listed = statements.map((sql) => [sql, ...planOf(sql).map((step) => `    ${step}`)]);
    await expect(`${listed.flat().join('\n')}\n`).toMatchFileSnapshot('statements.txt');
  });

  test('redeems a code in one UPDATE that has every condition', () => {
    const redemptions = [...prepared].filter((sql) =>
      sql.startsWith('UPDATE grants SET created_at = ?'),
    );
    expect(redemptions.length).toBeGreaterThan(0);
    for (const redemption of redemptions) {
      expect(redemption).toContain(
        'UPDATE grants SET created_at = ?, secret_hash = ?, code_expires_at = NULL, redeemed_by = ? ' +
          'WHERE id = ? AND application_id = ? AND code_hash IS ? AND created_at IS NULL ' +
          'AND code_expires_at > ? AND generation >= ? AND code_challenge IS ?',
      );
      const searches = planOf(redemption).filter((step) => !step.startsWith('CORRELATED'));
      expect(searches[0]).toBe('SEARCH grants USING INDEX sqlite_autoindex_grants_1 (id=?)');
      // Whether there is a mark at all: otherwise none stands in the way.
      for (const search of searches.slice(1))
        expect(search).toMatch(/^SEARCH \w+ USING PRIMARY KEY/);
    }
  });

  test('reads no table from its beginning to its end', () => {
    const scans = [...prepared].filter(isOfRows).flatMap((sql) =>
      planOf(sql).flatMap((detail) => {
        const [, table = ''] = /^SCAN (\w+)/.exec(detail) ?? [];
        const isPage = pages.includes(table) || !/WHERE (?!TRUE\b)/.test(sql);
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

  test('counts active grants, and finds their applications, by an index alone', () => {
    const { rootpage } = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND name = 'grants'")
      .get() as { rootpage: number };
    const begins = [
      'WITH part AS MATERIALIZED ( SELECT application_id, id',
      'WITH part AS MATERIALIZED ( SELECT account_id, id',
      'SELECT application_id FROM grants INDEXED BY unrevoked_by_account WHERE account_id = ? AND revoked_at IS NULL',
    ];
    const alone = [...prepared].filter((sql) => begins.some((begin) => sql.startsWith(begin)));
    // The last one is of two shapes.
    expect(alone).toHaveLength(begins.length + 1);
    for (const sql of alone) {
      const program = database.prepare(`EXPLAIN ${sql}`).all();
      const cursors = program
        .filter(({ opcode, p2 }) => opcode === 'OpenRead' && p2 === rootpage)
        .map(({ p1 }) => p1);
      // A deferred seek is made only where a column is read.
      const reads = program.filter(({ opcode, p1 }) => opcode === 'Column' && cursors.includes(p1));
      expect(reads, sql).toEqual([]);
    }
  });

  // The pending codes of one account are few.
  const fewCodes = 'code_hash IS NOT NULL ORDER BY id DESC';

  test.each(['FROM refusals', 'FROM grants INDEXED BY'])('sorts none: %s', (words) => {
    const plans = [...prepared]
      .filter((sql) => sql.includes(words) && !sql.includes(fewCodes))
      .flatMap(planOf);
    expect(plans.length).toBeGreaterThan(0);
    expect(plans.join('\n')).not.toContain('TEMP B-TREE');
  });
});
