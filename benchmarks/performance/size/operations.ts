import { randomInt } from 'node:crypto';
import { type Endpoint, type Grant, unexpectedResponse } from '../contender.ts';
import type { RunningLatchkey } from '../contenders/latchkey.ts';
import { uuidV7 } from '../credentials.ts';
import type { StoreKind } from '../harness.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, measure, measureOperations } from '../measure.ts';
import type { Sample } from '../results.ts';
import type { restWire } from '../wires/rest.ts';
import type { KnownGrant, Seeder } from './seed-data.ts';

const PAGE_SIZE = 10;
/** The smaller database has 500 known grants. */
export const REVOKED = 400;

/** Operations on the stored grants, besides those on new ones. */
export const storedOperations = [
  'authenticate, any stored',
  'revoke, any stored',
  'list of an account',
  'list of an application',
] as const;

/** A server and its seeded database. */
export interface Entry {
  name: string;
  server: RunningLatchkey & { wire: ReturnType<typeof restWire> };
  seeder: Seeder;
  known: readonly KnownGrant[];
  store: StoreKind;
}

/** The first page of the operator's list. */
function listBy(
  filter: 'account_id' | 'application_id',
  { administer }: RunningLatchkey,
): Endpoint<string, void> {
  return {
    request: (id) => administer('GET', `/admin/grants?${filter}=${id}&limit=${PAGE_SIZE}`),
    result(response) {
      if (response.status !== 200 || JSON.parse(response.body).data?.length !== PAGE_SIZE) {
        throw unexpectedResponse('The list', response);
      }
    },
  };
}

/** Measures all operations, then puts the database back into its state before. */
export async function measureEntry(
  { server, seeder, known }: Entry,
  requests: number,
): Promise<Record<string, Sample | undefined>> {
  const before = uuidV7(Date.now());
  const picks = Array.from(
    { length: requests },
    () => known[randomInt(known.length)] as KnownGrant,
  );
  const revoked = [...new Set(picks)].slice(0, REVOKED);
  const onNew = await measureOperations(server, { connections: CONNECTIONS, requests });
  const onStored = await withConnections(server.url, CONNECTIONS, async (connections) => {
    const sampleOf = async <Input>(endpoint: Endpoint<Input, void>, inputs: readonly Input[]) =>
      (await measure(server, connections, endpoint, inputs)).sample;
    const { authenticate, revoke } = server.wire;
    return {
      'authenticate, any stored': await sampleOf<Grant>(authenticate, picks),
      'list of an account': await sampleOf(
        listBy('account_id', server),
        picks.map(({ stored }) => stored.account.id),
      ),
      'list of an application': await sampleOf(
        listBy('application_id', server),
        picks.map(({ stored }) => stored.application_id),
      ),
      'revoke, any stored': await sampleOf<Grant>(revoke, revoked),
    } satisfies Partial<Record<(typeof storedOperations)[number], Sample>>;
  });
  await seeder.restore(revoked.map(({ stored }) => stored));
  await seeder.deleteAfter(before);
  return { ...onNew, ...onStored };
}
