import type { Milliseconds } from '@latchkey/domain/clock';
import type { Choice } from '@latchkey/schema';
import type { ApplicationRecord, ConnectedGrant, ScopeRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { describeTokens } from '../linking/describe-scopes.ts';
import { readPins, vouchersOf } from '../linking/linking.ts';
import { type ShownResource, shownResource } from '../resources/find-resource.ts';
import type { ShownAs } from '../vouchers.ts';
import type { InSteps } from '../work/pace.ts';

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
  /** The newest {@link MAX_SHOWN_GRANTS}, at least one, newest first. */
  grants: ConnectedGrant[];
  grants_total: number;
}

/** Of a connection in the list. It stays where it is if the application is disconnected or deleted. */
export interface ConnectionPlace {
  name: string;
  application_id: string;
}

export interface AskedConnections {
  account_id: string;
  limit: number;
  after: ConnectionPlace | null;
  inTurn: boolean;
}

export interface ConnectionPage {
  connections: Connection[];
  /** Where the next page begins; null at the end. */
  next: ConnectionPlace | null;
}

/** `docs/protocol/limits.md` has it. */
export const MAX_SHOWN_GRANTS = 100;
/** So many places are held, however many there are. */
const MOST_PLACES = 1_000;
/** Of grants. Nearly every account has no more, and waits for nobody. */
const FEW = 20;
/** So many connections are read in a step. */
const TOGETHER = 16;
/** Of applications, each of which may have 10 KB of redirect URIs. */
const MOST_NAMES = 200;

/**
 * The connections of an account, by the name of the application, in code points, then by its id. An account may allow
 * any number of strangers' applications: one with more than {@link FEW} grants is read in steps, between which others are
 * handled.
 *
 * @param asked.inTurn - whether such a one waits for the other lists of the account
 */
export async function listConnections(
  { store, linking, lists }: Pick<Dependencies, 'store' | 'linking' | 'lists'>,
  { account_id, limit, after, inTurn }: AskedConnections,
): Promise<ConnectionPage> {
  let steps: InSteps = atOnce;
  const turn: { end?: () => void } = {};
  const { show } = vouchersOf({ linking });
  await readPins({ store, linking });

  /** The first ones behind a place. */
  async function findPlaces(begin: Sortable | null): Promise<Sortable[]> {
    let places: Sortable[] = [];
    let id: string | null = null;
    async function readSome(most: number): Promise<boolean> {
      const range = { limit: Math.min(most, MOST_NAMES), after: id };
      const { connected, next } = await store.listConnected(account_id, range);
      const some = connected.flatMap(({ application_id, application }) =>
        // The grants of a deleted application no longer work, and are revoked in the background.
        application === null ? [] : sortable({ name: show(application).name, application_id }),
      );
      places = [...places, ...some.filter((place) => begin === null || byName(begin, place) < 0)]
        .sort(byName)
        .slice(0, MOST_PLACES);
      id = next;
      return next !== null;
    }
    if (await readSome(FEW)) {
      if (inTurn) turn.end ??= await lists.turns.begin(account_id);
      steps = lists.inSteps;
      await steps(readSome);
    }
    return places;
  }

  /** A part of each at a time. What has ended since, or has a pending code alone, is left out. */
  async function read(places: readonly ConnectionPlace[]): Promise<Read[]> {
    const sums = places.map(({ application_id }) => createSum(application_id));
    let left = sums;
    await steps(async (most) => {
      const limit = Math.ceil(most / left.length);
      const parts = left.map(({ application_id, before }) =>
        store.listActiveGrants({ account_id, application_id }, { limit, before }),
      );
      const read = await Promise.all(parts);
      for (const [index, sum] of left.entries()) for (const one of read[index] ?? []) add(sum, one);
      left = left.filter((_, index) => read[index]?.length === limit);
      return left.length > 0;
    });
    const found = await Promise.all(
      sums.map(async (sum): Promise<Read | null> => {
        if (sum.grants_total === 0) return null;
        const application = await store.findApplication(sum.application_id);
        return application && { application: show(application), sum };
      }),
    );
    return found.flatMap((one) => one ?? []);
  }

  // One more than asked for shows whether there are more.
  const most = limit + 1;
  const some = Math.min(most, TOGETHER);
  const found: Read[] = [];
  let places: Sortable[];
  let begin = after && sortable(after);
  try {
    do {
      places = await findPlaces(begin);
      begin = places.at(-1) ?? null;
      for (let done = 0; found.length < most && done < places.length; done += some) {
        found.push(...(await read(places.slice(done, done + some))));
      }
    } while (found.length < most && places.length === MOST_PLACES);
  } finally {
    turn.end?.();
  }

  // At the end: the texts of all scopes may be megabytes.
  const [described, registered] = await Promise.all([store.listScopes(), store.listResources()]);
  const connections = found.slice(0, limit).map(({ application, sum }): Connection => {
    const { tokens, resources, choices, connected_at, last_used_at, grants, grants_total } = sum;
    return {
      application,
      scopes: describeTokens(tokens, described),
      resources: [...resources].sort().map((address) => shownResource(registered, address)),
      choices: [...choices.values()].sort(byLabel).map(({ choice }) => choice),
      ...{ connected_at, last_used_at, grants, grants_total },
    };
  });
  const last = found.length > limit ? connections.at(-1)?.application : undefined;
  return { connections, next: last ? { name: last.name, application_id: last.id } : null };
}

async function atOnce(step: (most: number) => Promise<boolean>): Promise<void> {
  while (await step(FEW)) {
    // To the end.
  }
}

interface Read {
  application: ShownAs<ApplicationRecord>;
  sum: Sum;
}

/** What the grants of a connection are together. */
const createSum = (application_id: string) => ({
  application_id,
  tokens: new Set<string>(),
  resources: new Set<string>(),
  choices: new Map<string, Chosen>(),
  connected_at: Number.POSITIVE_INFINITY,
  last_used_at: null as Milliseconds | null,
  grants: [] as ConnectedGrant[],
  grants_total: 0,
  /** The last one that was read. */
  before: null as string | null,
});
type Sum = ReturnType<typeof createSum>;

function add(sum: Sum, grant: ConnectedGrant): void {
  const { grant_id, scope, resource, choice, created_at, last_used_at } = grant;
  for (const token of scope.split(' ')) sum.tokens.add(token);
  if (resource !== null) sum.resources.add(resource);
  if (choice !== null) {
    sum.choices.set(`${choice.id} ${choice.label}`, { choice, bytes: Buffer.from(choice.label) });
  }
  sum.connected_at = Math.min(sum.connected_at, created_at);
  if (last_used_at !== null) sum.last_used_at = Math.max(sum.last_used_at ?? 0, last_used_at);
  if (sum.grants.length < MAX_SHOWN_GRANTS) sum.grants.push(grant);
  sum.grants_total += 1;
  sum.before = grant_id;
}

// By code points, as UTF-8 sorts.

type Chosen = { choice: Choice; bytes: Buffer };
const byLabel = (one: Chosen, other: Chosen) =>
  Buffer.compare(one.bytes, other.bytes) || (one.choice.id < other.choice.id ? -1 : 1);

const sortable = (place: ConnectionPlace) => ({ ...place, bytes: Buffer.from(place.name) });
type Sortable = ReturnType<typeof sortable>;

const byName = (one: Sortable, other: Sortable) =>
  Buffer.compare(one.bytes, other.bytes) || (one.application_id < other.application_id ? -1 : 1);
