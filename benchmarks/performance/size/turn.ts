import { randomInt } from 'node:crypto';
import { newId } from '../../../apps/server/src/credentials/credentials.ts';
import { type Call, type Grant, wrongAnswer } from '../contender.ts';
import type { RunningLatchkey } from '../contenders/latchkey.ts';
import { withConnections } from '../load.ts';
import { CONNECTIONS, measure, turn } from '../measure.ts';
import type { Sample } from '../statistics.ts';
import type { StoreKind } from '../stores.ts';
import type { restWire } from '../wires/rest.ts';
import type { Shelf } from './shelf.ts';
import type { KnownGrant } from './stored-grants.ts';

const LISTED = 10;
// Of the few that are stored: they are there once, and half of them are the application's.
export const REVOKED = 400;

/** On the grants that were stored, any of them, besides those on the ones just exchanged. */
export const ON_STORED = [
  'authenticate, any stored',
  'revoke, any stored',
  'list of an account',
  'list of an application',
] as const;

/** A server on a database with so many grants. */
export interface Entry {
  name: string;
  running: RunningLatchkey & { wire: ReturnType<typeof restWire> };
  shelf: Shelf;
  known: readonly KnownGrant[];
  store: StoreKind;
}

/** A page of the operator's list. */
function listBy(
  filter: 'account_id' | 'application_id',
  { administer }: RunningLatchkey,
): Call<string, void> {
  return {
    request: (id) => administer('GET', `/admin/grants?${filter}=${id}&limit=${LISTED}`),
    result(answer) {
      if (answer.status !== 200 || JSON.parse(answer.body).data?.length !== LISTED) {
        throw wrongAnswer('A list', answer);
      }
    },
  };
}

/** A turn, after which the database holds what it held before. */
export async function turnOn(
  { running, shelf, known, store }: Entry,
  requests: number,
): Promise<Record<string, Sample | undefined>> {
  const before = newId(Date.now());
  const picks = Array.from(
    { length: requests },
    () => known[randomInt(known.length)] as KnownGrant,
  );
  const revoked = [...new Set(picks)].slice(0, REVOKED);
  const onNew = await turn(running, { connections: CONNECTIONS, requests });
  const onStored = await withConnections(running.url, CONNECTIONS, async (connections) => {
    const sampleOf = async <Input>(call: Call<Input, void>, inputs: readonly Input[]) =>
      (await measure(running, connections, call, inputs)).sample;
    const { authenticate, revoke } = running.wire;
    return {
      'authenticate, any stored': await sampleOf<Grant>(authenticate, picks),
      'list of an account': await sampleOf(
        listBy('account_id', running),
        picks.map(({ stored }) => stored.account.id),
      ),
      // The stand-in fetches all grants of an application to sort them: 0.8 s for some 20,000.
      ...(!store.isStandIn && {
        'list of an application': await sampleOf(
          listBy('application_id', running),
          picks.map(({ stored }) => stored.application_id),
        ),
      }),
      'revoke, any stored': await sampleOf<Grant>(revoke, revoked),
    } satisfies Partial<Record<(typeof ON_STORED)[number], Sample>>;
  });
  await shelf.restore(revoked.map(({ stored }) => stored));
  await shelf.removeAfter(before);
  return { ...onNew, ...onStored };
}
