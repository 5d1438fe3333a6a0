import type { Milliseconds } from '@latchkey/domain/clock';
import type { Adapter, Decision } from '../adapter.ts';
import { asIs, either, type Givens, isSet, moreThan, unless, when } from '../condition.ts';
import type { DocumentRange } from '../inputs.ts';
import { keptDocuments as kind } from '../kinds.ts';
import type { KeptDocument } from '../records.ts';

const DOCUMENT = ['document_uri', 'document', 'kept_at', 'kept_until'] as const;
const KEPT_AGAIN_AFTER: Milliseconds = 3_600_000;

const pinned = { kept_until: null } as const;
const byAddress = { order: { by: ['document_uri'] } } as const;

interface OfAddress {
  document_uri: string;
}

/** Pinned ones are not kept by themselves. */
export const keptAt = ({ document_uri }: Givens<OfAddress>) => ({
  document_uri,
  kept_until: isSet,
});

export function clientDocuments(db: Adapter) {
  const keep = db.modify(
    kind,
    ({ document_uri }: KeptDocument) => document_uri,
    (found, document): Decision<KeptDocument, void> => {
      const isNews =
        found === null || (found.kept_until !== null && replaces(document, found as KeptDocument));
      return { result: undefined, ...(isNews && { put: document }) };
    },
  );
  const find = db.find(
    kind,
    ({ document_uri }: Givens<OfAddress>) => ({ document_uri }),
    DOCUMENT,
    asIs,
  );
  const list = db.list(
    kind,
    ({ after, now, isKept }: Givens<Listed>) => [
      when(after, { document_uri: moreThan(after) }),
      when(isKept, { kept_until: moreThan(now) }),
      unless(isKept, either(pinned, { kept_until: moreThan(now) })),
    ],
    DOCUMENT,
    asIs,
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
    asIs,
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
    asIs,
    { ends: true, isReused: true },
  );
  const end = db.removeSome(kind, keptAt);

  return {
    /**
     * Keeps a document that was fetched at its `kept_at`, unless one is pinned or was fetched later. The same document
     * again is kept once an hour.
     */
    keepDocument: keep,

    /** Pinned or kept. One that is over may still be there. */
    findKeptDocument: (document_uri: string) => find({ document_uri }),

    /** Those that are pinned, or kept at `now`, by their address. */
    listKeptDocuments: (
      range: DocumentRange,
      { now, pinned }: { now: Milliseconds; pinned?: boolean | undefined },
    ) => (pinned ? listPins(range) : list({ ...range, now, isKept: pinned === false || null })),

    /** The addresses of those that are pinned. Sees every acknowledged change. */
    listPinned: () => listPinned({}),

    /**
     * Pins a document in the place of what is kept or pinned. Refuses another one if there are `most`. Concurrent
     * calls may exceed that by their number.
     */
    async pinDocument(
      document: Omit<KeptDocument, 'kept_until'>,
      { most }: { most: number },
    ): Promise<'pinned' | 'document_limit_reached'> {
      return pin({ ...document, isFull: (await listPinned({})).length >= most });
    },

    /** Returns the document that was pinned; null if there is none. Nothing of it is left. */
    unpinDocument: (document_uri: string) => unpin({ document_uri }),

    /** Removes what is kept, and not what is pinned. */
    async endKeptDocument(document_uri: string): Promise<void> {
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
