import type { Milliseconds } from '@latchkey/domain/clock';
import type { Choice } from '@latchkey/schema';
import type {
  ApplicationRecord,
  ConnectedGrant,
  ConnectionRecord,
  ScopeRecord,
} from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { describeTokens } from '../linking/describe-scopes.ts';
import { readPins, vouchersOf } from '../linking/linking.ts';
import { type ShownResource, shownResource } from '../resources/find-resource.ts';
import type { ShownAs } from '../vouchers.ts';

export interface Connection {
  application: ShownAs<ApplicationRecord>;
  scopes: ScopeRecord[];
  /** The servers that its grants are for. */
  resources: ShownResource[];
  /** What the user chose, each once, by label. */
  choices: Choice[];
  connected_at: Milliseconds;
  /** Null if no grant was used. */
  last_used_at: Milliseconds | null;
  /** At least one, newest first. */
  grants: ConnectedGrant[];
}

/** Of a connection in the list. It stays where it is if the application is disconnected or deleted. */
export interface ConnectionPlace {
  name: string;
  application_id: string;
}

export interface ConnectionPage {
  connections: Connection[];
  /** Where the next page begins; null at the end. */
  next: ConnectionPlace | null;
}

/** The connections of an account, by the name of the application, in code points, then by its id. */
export async function listConnections(
  { store, linking }: Pick<Dependencies, 'store' | 'linking'>,
  {
    account_id,
    limit,
    after,
  }: { account_id: string; limit: number; after: ConnectionPlace | null },
): Promise<ConnectionPage> {
  const { show } = vouchersOf({ linking });
  const [connected, described, registered] = await Promise.all([
    store.listConnected(account_id),
    store.listScopes(),
    store.listResources(),
    readPins({ store, linking }),
  ]);
  const begin = after && sortable(after);
  const places = connected
    .flatMap(({ application_id, application }) =>
      // The grants of a deleted application no longer work, and are revoked in the background.
      application === null ? [] : sortable({ name: show(application).name, application_id }),
    )
    .filter((place) => begin === null || byName(begin, place) < 0)
    .sort(byName);

  function shown(record: ConnectionRecord | undefined): Connection | null {
    if (record === undefined) return null;
    const { application, grants } = record;
    const tokens = new Set(grants.flatMap(({ scope }) => scope.split(' ')));
    const resources = new Set(grants.flatMap(({ resource }) => resource ?? []));
    return {
      application: show(application),
      scopes: describeTokens(tokens, described),
      resources: [...resources].sort().map((address) => shownResource(registered, address)),
      choices: distinct(grants.flatMap(({ choice }) => choice ?? [])),
      connected_at: grants.reduce((first, { created_at }) => Math.min(first, created_at), Infinity),
      last_used_at: latest(grants.flatMap(({ last_used_at }) => last_used_at ?? [])),
      grants,
    };
  }

  // One more than asked for shows whether there are more.
  const most = limit + 1;
  const connections: Connection[] = [];
  // Again only if some have ended since, or have a pending code alone.
  for (let done = 0; connections.length < most && done < places.length; ) {
    const some = places.slice(done, done + most - connections.length);
    done += some.length;
    const application_ids = some.map(({ application_id }) => application_id);
    const found = await store.listConnections({ account_id, application_ids });
    const byId = new Map(found.map((record) => [record.application.id, record]));
    connections.push(...application_ids.flatMap((id) => shown(byId.get(id)) ?? []));
  }
  const page = connections.slice(0, limit);
  const last = connections.length > limit ? page.at(-1)?.application : undefined;
  return { connections: page, next: last ? { name: last.name, application_id: last.id } : null };
}

const latest = (times: readonly Milliseconds[]): Milliseconds | null =>
  times.reduce<Milliseconds | null>((last, time) => Math.max(last ?? time, time), null);

const distinct = (choices: readonly Choice[]): Choice[] =>
  [...new Map(choices.map((choice) => [`${choice.id} ${choice.label}`, choice])).values()].sort(
    byLabel,
  );

// By code points, as UTF-8 sorts.

const byLabel = (one: Choice, other: Choice) =>
  Buffer.compare(Buffer.from(one.label), Buffer.from(other.label)) || (one.id < other.id ? -1 : 1);

const sortable = (place: ConnectionPlace) => ({ ...place, bytes: Buffer.from(place.name) });
type Sortable = ReturnType<typeof sortable>;

const byName = (one: Sortable, other: Sortable) =>
  Buffer.compare(one.bytes, other.bytes) || (one.application_id < other.application_id ? -1 : 1);
