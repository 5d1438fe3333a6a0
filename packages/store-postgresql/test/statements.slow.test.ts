import { everyOperation } from '@latchkey/store-suite/every-operation';
import { pastIn } from '@latchkey/store-suite/many-grants';
import { manyOfEach } from '@latchkey/store-suite/rows-read';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openPostgresqlStore } from '../src/postgresql-store.ts';
import { openPostgresqlTarget } from '../src/transfer.ts';

// A plan without an index costs more than any other here. So one that reads a whole table has no index that it could
// go along. The tables have statistics, as in a service.

/** What may be read as a whole: it has few rows, whatever the service did. */
const small = ['scopes', 'resources', 'keys', 'command_changes', 'live_count', 'use_mark'];

/** These have few rows of a table, and what reads them all returns nearly all. What is not kept any more is swept. */
const few = [
  ...['pinned_documents', 'failing_endpoints', 'unfinished_accounts', 'kept_documents_pkey'],
  // All codes here are of one account, which has a quarter of the grants.
  'grants_by_expiry',
];

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  Filter?: string;
  Plans?: Plan[];
  /** Whether it ends after so many rows, in the order in which it finds them. */
  isBounded?: boolean;
}

describeOnPostgresql('a statement', (server) => {
  let url: string;
  const sent = new Map<string, unknown[]>();
  const plans = new Map<string, Plan[]>();

  beforeAll(async () => {
    url = await createDatabase(server);
    const sendQuery = Client.prototype.query;
    const spy = vi.spyOn(Client.prototype, 'query');
    spy.mockImplementation(function (this: Client, ...given: unknown[]) {
      const [text, values = []] = given as [string, unknown[]?];
      if (/^\s*(SELECT|WITH|UPDATE|DELETE|INSERT)/.test(text)) {
        sent.set(text.replaceAll(/\s+/g, ' ').trim(), values);
      }
      return Reflect.apply(sendQuery, this, given);
    } as never);
    const past = await pastIn(await openPostgresqlTarget(url), { grants: 4_000, ofAccount: 1_000 });
    // Its statistics of a table that everyOperation has emptied would fit no service.
    await query(
      url,
      `DO $$ DECLARE name text; BEGIN
         FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
           EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name);
         END LOOP;
       END $$`,
    );
    const options = { revokedGrantDays: 1, recordsEvents: true };
    const store = await openPostgresqlStore({ url, clock: Date.now, ...options });
    await manyOfEach(store, past, 100);
    await query(url, 'ANALYZE');
    sent.clear();
    await everyOperation(store, past);
    await store.close();
    spy.mockRestore();

    const client = new Client({ connectionString: url });
    await client.connect();
    for (const way of ['seqscan', 'bitmapscan', 'hashjoin', 'mergejoin']) {
      await client.query(`SET enable_${way} = off`);
    }
    for (const [text, values] of sent) {
      const { rows } = await client.query(`EXPLAIN (FORMAT JSON) ${text}`, values);
      plans.set(text, nodesOf(rows[0]['QUERY PLAN'][0].Plan));
    }
    await client.end();
  });
  afterAll(() => dropDatabase(url));

  function nodesOf({ Plans = [], ...plan }: Plan, isWithin = false): Plan[] {
    const type = plan['Node Type'];
    const isBounded = type === 'Limit' || (isWithin && !type.includes('Sort'));
    return [{ ...plan, isBounded }, ...Plans.flatMap((inner) => nodesOf(inner, isBounded))];
  }
  const scansOf = (nodes: Plan[]) =>
    nodes.filter((node) => node['Node Type'].includes('Scan') && node['Relation Name']);

  test('reads no table from its beginning to its end', () => {
    expect(sent.size).toBeGreaterThan(100);
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
});
