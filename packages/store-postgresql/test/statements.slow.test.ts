import { everyOperation } from '@latchkey/store-suite/every-operation';
import { pastIn } from '@latchkey/store-suite/many-grants';
import { manyOfEach, watched } from '@latchkey/store-suite/rows-read';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { openPostgresqlTarget } from '../src/transfer.ts';

// Every statement of each operation, and of each step behind the requests, on two databases, the second of which has
// twice as much of everything. Each is explained first, in a transaction that is rolled back. A plan without an index
// costs more than any other here. So one that reads a whole table has no index that it could go along. The tables have
// statistics, as in a service.

const SIZES = [60, 120];

// A mark is listed, read and removed, and its delivery needs its record and its endpoint.
const OF_ROW = 5;
const SPARE = 20;

/** What may be read as a whole: it has few rows, whatever the service did. */
const small = [
  ...['scopes', 'resources', 'keys', 'command_changes', 'live_count', 'use_mark', 'leases'],
];

/** These have few rows of a table, and what reads them all returns nearly all. What is not kept any more is swept. */
const few = [
  ...['pinned_documents', 'failing_endpoints', 'unfinished_accounts', 'kept_documents_pkey'],
  // All codes here are of one account, which has a quarter of the grants.
  'grants_by_expiry',
];

type Send = (
  this: Client,
  text: string,
  values?: unknown[],
) => Promise<{ rows: Record<string, [{ Plan: Plan }]>[] }>;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  'Rows Removed by Index Recheck'?: number;
  Plans?: Plan[];
  /** Whether it ends after so many rows, in the order in which it finds them. */
  isBounded?: boolean;
}

describeOnPostgresql('a statement', (server) => {
  const plans = new Map<string, Plan[]>();
  /** What each operation read beyond its rows, at the most, at each size. */
  const walks: Map<string, number>[] = [];
  const operations = new Set<string>();
  const urls: string[] = [];

  beforeAll(async () => {
    for (const size of SIZES) walks.push(await walksAt(size));
  });
  afterAll(() => Promise.all(urls.map(dropDatabase)));

  async function walksAt(size: number): Promise<Map<string, number>> {
    const url = await createDatabase(server);
    urls.push(url);
    const past = await pastIn(await openPostgresqlTarget(url), { grants: 4_000, ofAccount: 1_000 });
    // Its statistics of a table that everyOperation has emptied would fit no service.
    await query(
      url,
      `DO $$ DECLARE name text; BEGIN
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
           EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name);
         END LOOP;
         FOREACH name IN ARRAY ARRAY['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin'] LOOP
           EXECUTE format('ALTER DATABASE %I SET enable_%s = off', current_database(), name);
         END LOOP;
       END $$`,
    );
    const options = { revokedGrantDays: 1, recordsEvents: true };
    const filled = await openPostgresqlStore({ url, clock: Date.now, ...options });
    await manyOfEach(filled, past, size);
    await filled.close();
    await query(url, 'ANALYZE');

    const store = await openPostgresqlStore({ url, clock: Date.now, ...options });
    for (const operation of Object.keys(store)) operations.add(operation);
    let beyond = 0;
    const send = Client.prototype.query as Send;
    const spy = vi.spyOn(Client.prototype, 'query');
    spy.mockImplementation(async function (this: Client, text: string, values: unknown[] = []) {
      if (/^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/.test(text)) {
        await send.call(this, 'BEGIN');
        const explain = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${text}`;
        const { rows } = await send.call(this, explain, values);
        await send.call(this, 'ROLLBACK');
        const nodes = nodesOf(rows[0]?.['QUERY PLAN']?.[0].Plan as Plan);
        plans.set(text.replaceAll(/\s+/g, ' ').trim(), nodes);
        beyond += readBy(nodes) - OF_ROW * changedBy(nodes);
      }
      return send.call(this, text, values);
    } as never);
    const worst = new Map<string, number>();
    const told = watched(store, ({ operation, rows }) => {
      worst.set(operation, Math.max(worst.get(operation) ?? 0, beyond - OF_ROW * rows));
      beyond = 0;
    });
    await everyOperation(told, past);
    await store.close();
    spy.mockRestore();
    return worst;
  }

  function nodesOf({ Plans = [], ...plan }: Plan, isWithin = false): Plan[] {
    const type = plan['Node Type'];
    const isBounded = type === 'Limit' || (isWithin && !type.includes('Sort'));
    return [{ ...plan, isBounded }, ...Plans.flatMap((inner) => nodesOf(inner, isBounded))];
  }
  const scansOf = (nodes: Plan[]) =>
    nodes.filter(
      ({ 'Node Type': type, 'Relation Name': table }) =>
        type.includes('Scan') && table && !table.startsWith('pg_'),
    );

  const sum = (numbers: readonly number[]) => numbers.reduce((one, other) => one + other, 0);
  /** To look for a record, and to find none, is to read one too. */
  const readBy = (nodes: Plan[]) =>
    sum(
      scansOf(nodes).map(
        (node) =>
          node['Actual Loops'] *
          Math.max(
            1,
            node['Actual Rows'] +
              (node['Rows Removed by Filter'] ?? 0) +
              (node['Rows Removed by Index Recheck'] ?? 0),
          ),
      ),
    );
  /** What a change is made of comes right behind it. */
  const changedBy = (nodes: Plan[]) =>
    sum(
      nodes.map((node, index) =>
        nodes[index - 1]?.['Node Type'] === 'ModifyTable'
          ? node['Actual Loops'] * node['Actual Rows']
          : 0,
      ),
    );

  test('reads no table from its beginning to its end', () => {
    expect(plans.size).toBeGreaterThan(100);
    const whole = [...plans].flatMap(([text, nodes]) =>
      scansOf(nodes).flatMap((node) => {
        const table = node['Relation Name'] as string;
        const isFew = small.includes(table) || few.includes(node['Index Name'] ?? '');
        if (node['Index Cond'] || isFew || (node.isBounded && !node.Filter)) return [];
        return `${node['Node Type']} of ${table} by ${node['Index Name']}: ${text}`;
      }),
    );
    expect(
      whole,
      'Find the rows by a key or an index, or add the table above, with the reason',
    ).toEqual([]);
  });

  test('is of an operation, or of a step of work, that is looked at', () => {
    const known = new Set(walks.flatMap((walk) => [...walk.keys()]));
    const left = [...operations].filter((name) => !known.has(name));
    expect(left.toSorted()).toEqual(['close', 'connectionPool', 'doStep', 'housekeeping']);
  });

  test('reads the rows that its operation returns, and few others, whatever else there is', () => {
    const [once = new Map(), twice = new Map()] = walks;
    const more = [...twice].filter(
      ([operation, beyond]) =>
        // The planner may take all codes for those of an account that has a quarter of the grants, as here.
        operation !== 'listCodes' && beyond > (once.get(operation) ?? 0) + SPARE,
    );
    // The look at the endpoints, once a minute and behind the requests, has to read each that has something due: any
    // may have been disabled by another process.
    expect(more.map(([operation]) => operation)).toEqual(['endpoints']);
  });
});
