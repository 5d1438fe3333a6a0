import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter } from '../adapter.ts';
import { either, type Givens, isSet, moreThan, unless, when } from '../condition.ts';
import { keptDocuments as kind } from '../kinds.ts';
import type { KeptDocument } from '../records.ts';
import type { Store } from '../store.ts';

type ClientDocuments = Pick<
  Store,
  | 'keepDocument'
  | 'findKeptDocument'
  | 'listKeptDocuments'
  | 'listPinned'
  | 'pinDocument'
  | 'unpinDocument'
  | 'endKeptDocument'
>;

const DOCUMENT = ['document_uri', 'document', 'kept_at', 'kept_until'] as const;
const KEPT_AGAIN_AFTER: Milliseconds = 3_600_000;

const pinned = { kept_until: null } as const;
const byAddress = { order: { by: ['document_uri'] } } as const;
const asItIs = (found: KeptDocument): KeptDocument => found;

interface OfAddress {
  document_uri: string;
}

/** Pinned ones are not kept by themselves. */
export const keptAt = ({ document_uri }: Givens<OfAddress>) => ({
  document_uri,
  kept_until: isSet,
});

export function clientDocuments(db: Adapter): ClientDocuments {
  const keep = db.modify(
    kind,
    ({ document_uri }: KeptDocument) => document_uri,
    (found, document) => {
      const isNews =
        found === null || (found.kept_until !== null && replaces(document, found as KeptDocument));
      return { result: undefined, ...(isNews && { put: document }) };
    },
  );
  const find = db.joined(
    kind,
    ({ document_uri }: Givens<OfAddress>) => ({ document_uri }),
    DOCUMENT,
    {},
    asItIs,
  );
  const list = db.list(
    kind,
    ({ after, now, isKept }: Givens<Listed>) => [
      when(after, { document_uri: moreThan(after) }),
      when(isKept, { kept_until: moreThan(now) }),
      unless(isKept, either(pinned, { kept_until: moreThan(now) })),
    ],
    DOCUMENT,
    asItIs,
    byAddress,
  );
  const ofPins = { index: 'pinned_documents', isDecisive: true, ...byAddress };
  const listPins = db.list(
    kind,
    ({ after }: Givens<{ after: string | null }>) => [
      pinned,
      when(after, { document_uri: moreThan(after) }),
    ],
    DOCUMENT,
    asItIs,
    ofPins,
  );
  const listPinned = db.list(
    kind,
    () => pinned,
    ['document_uri'],
    ({ document_uri }) => document_uri,
    ofPins,
  );
  const pin = db.modify(
    kind,
    ({ document_uri }: Pin) => document_uri,
    (found, { isFull, ...document }) => {
      const isNew = found === null || found.kept_until !== null;
      if (isNew && isFull) return { result: 'document_limit_reached' as const };
      return { result: 'pinned' as const, put: { ...document, ...pinned } };
    },
    { isReused: true },
  );
  const unpin = db.remove(
    kind,
    ({ document_uri }: Givens<OfAddress>) => ({ document_uri, ...pinned }),
    DOCUMENT,
    asItIs,
    { ends: true, isReused: true },
  );
  const end = db.removeSome(kind, keptAt);

  return {
    keepDocument: keep,
    findKeptDocument: (document_uri) => find({ document_uri }),

    listKeptDocuments: (range, { now, pinned }) =>
      pinned ? listPins(range) : list({ ...range, now, isKept: pinned === false || null }),

    listPinned: () => listPinned({}),

    async pinDocument(document, { most }) {
      return pin({ ...document, isFull: (await listPinned({})).length >= most });
    },

    unpinDocument: (document_uri) => unpin({ document_uri }),
    async endKeptDocument(document_uri) {
      await end({ document_uri });
    },
  };
}

interface Listed {
  after: string | null;
  now: Milliseconds;
  isKept: true | null;
}

interface Pin extends Omit<KeptDocument, 'kept_until'> {
  isFull: boolean;
}

export function replaces(fetched: KeptDocument, kept: KeptDocument): boolean {
  if (fetched.document === kept.document) {
    return fetched.kept_at >= kept.kept_at + KEPT_AGAIN_AFTER;
  }
  return fetched.kept_at > kept.kept_at;
}
