import type { Milliseconds } from '@latchkey/domain/clock';
import type { Choice } from '@latchkey/schema';
import type { ApplicationRecord, ConnectedGrant, ScopeRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { activeGrants } from '../grants/active-grants.ts';
import { describeTokens } from '../linking/describe-scopes.ts';
import { readPins, vouchersOf } from '../linking/linking.ts';
import { type ShownResource, shownResource } from '../resources/find-resource.ts';
import type { Shown } from '../vouchers.ts';

export interface Connection {
  application: Omit<ApplicationRecord, 'name'> & Shown;
  scopes: ScopeRecord[];
  /** The servers that its grants are for. */
  resources: ShownResource[];
  /** What the user chose, each once, by label. */
  choices: Choice[];
  connected_at: Milliseconds;
  /** Null if no grant was used. */
  last_used_at: Milliseconds | null;
}

export interface ConnectionWithGrants extends Connection {
  grants: ConnectedGrant[];
}

export async function listConnections(
  { store, linking }: Pick<Dependencies, 'store' | 'linking'>,
  account_id: string,
): Promise<Connection[]> {
  const { show } = vouchersOf({ linking });
  const [described, registered, connected] = await Promise.all([
    store.listScopes(),
    store.listResources(),
    store.listConnections(account_id).then((records) =>
      Promise.all(
        records.map(async (record) => ({
          ...record,
          application: await store.findApplication(record.application_id),
        })),
      ),
    ),
    readPins({ store, linking }),
  ]);
  return connected
    .flatMap(({ application, scopes, resources, choices, connected_at, last_used_at }) => {
      // The grants of a deleted application no longer work, and are revoked in the background.
      if (application === null) return [];
      const tokens = new Set(scopes.flatMap((scope) => scope.split(' ')));
      const times = { connected_at, last_used_at };
      const shown = resources.toSorted().map((address) => shownResource(registered, address));
      return [
        {
          application: show(application),
          scopes: describeTokens(tokens, described),
          resources: shown,
          choices: choices.toSorted(byLabel),
          ...times,
        },
      ];
    })
    .sort((one, other) => byName(one.application, other.application));
}

export async function listConnectionsWithGrants(
  { store, linking }: Pick<Dependencies, 'store' | 'linking'>,
  account_id: string,
): Promise<ConnectionWithGrants[]> {
  const connections = await listConnections({ store, linking }, account_id);
  const withGrants = await Promise.all(
    connections.map(async (connection) => {
      const application_id = connection.application.id;
      const grants: ConnectedGrant[] = [];
      for await (const grant of activeGrants(store, { account_id, application_id })) {
        grants.push(grant);
      }
      return { ...connection, grants };
    }),
  );
  // The last grant may be revoked in between.
  return withGrants.filter(({ grants }) => grants.length > 0);
}

/** By code points, as UTF-8 sorts. */
const byLabel = (one: Choice, other: Choice) =>
  Buffer.compare(Buffer.from(one.label), Buffer.from(other.label)) || (one.id < other.id ? -1 : 1);

function byName(one: Connection['application'], other: Connection['application']): number {
  return one.name.localeCompare(other.name, 'en') || one.id.localeCompare(other.id);
}
