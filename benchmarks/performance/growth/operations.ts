import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Endpoint, type Grant, unexpectedResponse } from '../contender.ts';
import type { RunningLatchkey } from '../contenders/latchkey.ts';
import { load, withConnections } from '../load.ts';
import { CONNECTIONS, convertAll, measure } from '../measure.ts';
import { type LatchkeyWire, restWire } from '../wires/rest.ts';
import type { Figures } from './figures.ts';
import type { Records } from './records.ts';

/** How many requests an operation gets in a round, on each database. */
export interface Sizes {
  convert: number;
  authenticate: number;
  revoke: number;
  read: number;
  readLarge: number;
  /** Of accounts and of applications. */
  remove: number;
}

/** A server and its database. Each round uses up a part of what is there to be revoked, erased or deleted. */
export interface Entry {
  server: RunningLatchkey<LatchkeyWire>;
  records: Records;
  figures: Figures;
  /** Where `latchkey backup` writes to; null if it makes none of this database. */
  backup: string | null;
}

export const AUTHENTICATE = 'authenticate';
export const BESIDE_DELETION = 'authenticate, beside the deletion of a large application';
export const LARGE_DELETION = 'deletion of a large application';
export const BACKUP = 'backup';

const anyOf = <T>(all: readonly T[], count: number): T[] =>
  Array.from({ length: count }, () => all[randomInt(all.length)] as T);
const times = (id: string, count: number): string[] => Array.from({ length: count }, () => id);
const part = <T>(all: readonly T[], size: number, round: number): T[] =>
  all.slice(round * size, (round + 1) * size);

const toRevoke = ({ known }: Records) => known.filter((_, index) => index % 3 === 0);
const toStay = ({ known }: Records) => known.filter((_, index) => index % 3 !== 0);

const wireOf = ({ records }: Entry) => restWire(records.application.secret);

/** An operation of the operator, and the ids that its requests name. */
function byOperator(
  method: string,
  path: (id: string) => string,
  idsOf: (records: Records, sizes: Sizes, round: number) => string[],
  connections = CONNECTIONS,
) {
  return async (entry: Entry, sizes: Sizes, round: number) => {
    const endpoint: Endpoint<string, void> = {
      request: (id) => entry.server.asOperator(method, path(id)),
      result(response) {
        const isRight = response.status === 200 && JSON.parse(response.body).data?.length !== 0;
        if (!isRight) throw unexpectedResponse(`${method} ${path('…')}`, response);
      },
    };
    return send(entry, endpoint, idsOf(entry.records, sizes, round), connections);
  };
}

function send<Input>(
  { server }: Entry,
  endpoint: Endpoint<Input, unknown>,
  inputs: readonly Input[],
  count = CONNECTIONS,
) {
  return withConnections(server.url, count, (connections) =>
    measure(server, connections, endpoint, inputs),
  );
}

const connectionsOf = (id: string) => `/admin/accounts/${id}/connections`;
const accounts = ({ plainAccounts }: Records, { read }: Sizes) => anyOf(plainAccounts, read);

/** In the order of a round. */
const measures = {
  async convert(entry: Entry, sizes: Sizes) {
    const { server, records } = entry;
    const issued = accounts(records, { ...sizes, read: sizes.convert }).map((account_id) => ({
      ...{ method: 'POST', path: '/admin/codes' },
      body: { application_id: records.application.id, account_id, scope: 'profile.read' },
    }));
    const codes = (await server.administer(issued)).map(({ code = '' }) => code);
    return withConnections(server.url, CONNECTIONS, (connections) =>
      convertAll({ ...server, wire: wireOf(entry) }, connections, codes),
    );
  },
  [AUTHENTICATE]: (entry: Entry, sizes: Sizes) =>
    send<Grant>(
      entry,
      wireOf(entry).authenticate,
      anyOf(toStay(entry.records), sizes.authenticate),
    ),
  revoke: (entry: Entry, sizes: Sizes, round: number) =>
    send<Grant>(entry, wireOf(entry).revoke, part(toRevoke(entry.records), sizes.revoke, round)),
  'connections of an account': byOperator('GET', connectionsOf, accounts),
  'connections of a large account': byOperator(
    'GET',
    connectionsOf,
    ({ largeAccount }, { readLarge }) => times(largeAccount, readLarge),
    1,
  ),
  'grants of an account': byOperator(
    'GET',
    (id) => `/admin/grants?account_id=${id}&limit=20`,
    accounts,
  ),
  'grants of an application': byOperator(
    'GET',
    (id) => `/admin/grants?application_id=${id}&limit=20`,
    ({ application }, { read }) => times(application.id, read),
  ),
  accounts: byOperator(
    'GET',
    () => '/admin/accounts?limit=20',
    (_, { read }) => times('', read),
  ),
  summary: byOperator(
    'GET',
    () => '/admin/summary',
    (_, { read }) => times('', read),
  ),
  'erasure of an account': byOperator(
    'DELETE',
    (id) => `/admin/accounts/${id}`,
    ({ toErase }, { remove }, round) => part(toErase, remove, round),
    1,
  ),
  'deletion of an application': byOperator(
    'DELETE',
    (id) => `/admin/applications/${id}`,
    ({ toDelete }, { remove }, round) => part(toDelete, remove, round),
    1,
  ),
};

/** All that is measured, in the order of the tables. */
export const operations = [...Object.keys(measures), BESIDE_DELETION, LARGE_DELETION, BACKUP];

/**
 * Measures each operation on every database before the next operation, so that what else the machine does
 * meets all of them alike.
 *
 * @param round - its number, from 0, which is not counted
 */
export async function measureRound(
  entries: readonly Entry[],
  sizes: Sizes,
  round: number,
): Promise<void> {
  for (const [operation, measured] of Object.entries(measures)) {
    for (const entry of entries) {
      const { sample, latencies } = await measured(entry, sizes, round);
      if (round > 0) entry.figures.add(operation, latencies, sample.cpu);
    }
  }
  if (round === 0) return;
  for (const { server, figures, backup } of entries) {
    if (backup === null) continue;
    const process = server.startAnother(['backup', backup]);
    await process.waitForOutput(/ is a verified backup of /);
    figures.add(BACKUP, [performance.now() - process.startedAt]);
    await process.stop();
  }
}

/** Waits until the live grants were counted, which a new process does in the background. */
export async function untilCounted({ server }: Entry): Promise<void> {
  await withConnections(server.url, 1, async (connections) => {
    for (;;) {
      const request = server.asOperator('GET', '/admin/summary');
      const [response] = (await load(server.url, connections, [request])).responses;
      if (response?.status === 200 && JSON.parse(response.body).grants.live !== null) return;
      await sleep(500);
    }
  });
}

/** Deletes the large application while requests of another one are authenticated. */
export async function measureBesideDeletion(entry: Entry, sizes: Sizes): Promise<void> {
  const { server, records, figures } = entry;
  const path = `/admin/applications/${records.largeApplication}`;
  await server.administer([{ method: 'POST', path: `${path}/disable`, body: {} }]);
  const begun = performance.now();
  let isAnswered = false;
  const answered = withConnections(server.url, 1, async (connections) => {
    const request = server.asOperator('DELETE', path);
    const [response] = (await load(server.url, connections, [request])).responses;
    isAnswered = true;
    return response;
  });
  // The rest of a deletion may outlive its answer.
  do {
    const { sample, latencies } = await measures[AUTHENTICATE](entry, sizes);
    figures.add(BESIDE_DELETION, latencies, sample.cpu);
  } while (!isAnswered || (await pendingDeletions(server.url)) !== 0);
  figures.add(LARGE_DELETION, [performance.now() - begun]);
  const response = await answered;
  if (response && response.status !== 200) throw unexpectedResponse('The deletion', response);
}

async function pendingDeletions(url: URL): Promise<number> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const [, pending] = /^latchkey_work_pending\{kind="deletion"\} (\S+)$/m.exec(text) ?? [];
  if (pending === undefined) throw new Error('/metrics has no latchkey_work_pending.');
  return Number(pending);
}
