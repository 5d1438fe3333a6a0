import { randomUUID } from 'node:crypto';
import type { AnyKind, RecordOf } from './kind.ts';
import * as kinds from './kinds.ts';
import {
  addressOf,
  applicationOf,
  deletedApplication,
  deletionOf,
  storedApplication,
} from './operations/applications.ts';
import type { ApplicationRecord, CommandChange, DeletionRecord, ScopeRecord } from './records.ts';
import { fromStoredSecret, toStoredSecret } from './stored-secrets.ts';
import type { CopiedKind, CopiedRecords, Page } from './transfer.ts';

/** What a copy makes of a stored record, and the other way round. */
export interface CopiedAs<Copy = unknown, K extends AnyKind = AnyKind> {
  kind: K;
  /** It has only the records with this field set, or not set. Default: all. */
  where?: { readonly set: string } | { readonly unset: string };
  toCopy(stored: RecordOf<K>): Copy;
  toStored(copy: Copy): Partial<RecordOf<K>>;
}

const as = <K extends AnyKind, Copy>(kind: K, how: Omit<CopiedAs<Copy, K>, 'kind'>) =>
  ({ kind, ...how }) as unknown as CopiedAs<Copy>;

const same = <T>(value: T): T => value;

/** Those with a record of their own each. */
export const copiedAs: { readonly [Kind in CopiedKind]?: CopiedAs<CopiedRecords[Kind]> } = {
  scopes: as(kinds.scopes, {
    where: { unset: 'deleted_at' },
    toCopy: ({ deleted_at: _, description_id: __, ...scope }): ScopeRecord => scope,
    toStored: (scope) => ({ ...scope, deleted_at: null, description_id: randomUUID() }),
  }),
  applications: as(kinds.applications, {
    where: { unset: 'deleted_at' },
    toCopy: applicationOf,
    toStored: storedApplication,
  }),
  deletions: as(kinds.applications, {
    where: { set: 'deletion_pending' },
    toCopy: deletionOf,
    toStored: ({ application_id, ...deletion }: DeletionRecord) => ({
      ...{ id: application_id, disabled: true, created_at: deletion.deleted_at, public: false },
      ...{ resource_server: false, challenge_required: false },
      ...deletedApplication(deletion),
    }),
  }),
  command_changes: as(kinds.commandChanges, {
    toCopy: ({ id, change }): CommandChange => ({ id, ...change }),
    toStored: ({ id, ...change }) => ({ id, change }),
  }),
  log_counter: as(kinds.logCounter, { toCopy: same, toStored: same }),
};

/** By which documented applications are found. */
export const clientDocumentsOf = (applications: readonly ApplicationRecord[]) =>
  applications.flatMap(({ id, document }) =>
    document === null ? [] : [{ address: addressOf(document.uri), application_id: id }],
  );

type Item = { id: string };

/** Those of which one record has all. */
export const copiedInOne = {
  resources: { kind: kinds.resources, toCopy: same, toStored: same },
  keys: { kind: kinds.keys, toCopy: fromStoredSecret, toStored: toStoredSecret },
} as unknown as Record<
  'resources' | 'keys',
  { kind: AnyKind; toCopy(stored: Item): Item; toStored(copy: Item): Item }
>;

export const pageOf = (list: readonly Item[], { after, limit }: Page): Item[] =>
  list
    .filter(({ id }) => after === null || id > after)
    .sort((one, other) => (one.id < other.id ? -1 : 1))
    .slice(0, limit);
