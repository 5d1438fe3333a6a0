import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { CODE_LIFETIME } from '@latchkey/domain/lifetimes';
import type { DeletionRecord } from '@latchkey/store/records';
import type { ListRange, Store } from '@latchkey/store/store';
import type { Counts } from '../summary/counts.ts';

export interface Deletions {
  /** @param document_uri - of the application; null if it has none */
  begin(deletion: DeletionRecord, document_uri: string | null): Promise<void>;
  complete(): Promise<void>;
  watch(): void;
  close(): Promise<void>;
}

// SQLite needs about 10 ms of the main thread for a page.
const PAGE = 500;
const WATCH_EVERY: Milliseconds = 60_000;

// A redemption that is running during the deletion still makes a grant. The last code expires after
// CODE_LIFETIME; the same time again allows for slow calls and for clocks that differ.
const SETTLED_AFTER: Milliseconds = 2 * CODE_LIFETIME;

type Deleting = Pick<Store, 'listDeletions' | 'endGrants' | 'forgetDeletion' | 'endKeptDocument'>;

export function createDeletions(
  store: Deleting,
  {
    clock,
    counts,
    onError,
  }: {
    clock: Clock;
    counts: Pick<Counts, 'add'>;
    onError(error: unknown): void;
  },
): Deletions {
  let closed = false;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  const firstPage = { limit: PAGE, before: null };

  async function endPage(deletion: DeletionRecord, page: ListRange): Promise<string | null> {
    const { revoked, before } = await store.endGrants(deletion, page);
    counts.add('revoked:application_deleted', revoked);
    return before;
  }

  async function completeAll(): Promise<void> {
    const now = clock();
    for (const deletion of await store.listDeletions()) {
      let before = await endPage(deletion, firstPage);
      while (before !== null) {
        if (closed) return;
        before = await endPage(deletion, { limit: PAGE, before });
      }
      if (now >= deletion.deleted_at + SETTLED_AFTER) {
        await store.forgetDeletion(deletion.application_id);
      }
    }
  }

  function complete(): Promise<void> {
    running ??= completeAll().finally(() => {
      running = null;
    });
    return running;
  }

  const completeInBackground = () => {
    complete().catch((error) => {
      if (!closed) onError(error);
    });
  };

  return {
    async begin(deletion, document_uri) {
      try {
        if (document_uri !== null) await store.endKeptDocument(document_uri);
        if ((await endPage(deletion, firstPage)) !== null) completeInBackground();
      } catch (error) {
        // The application is deleted, so the call has succeeded.
        onError(error);
      }
    },

    complete,

    watch() {
      completeInBackground();
      timer = setInterval(completeInBackground, WATCH_EVERY).unref();
    },

    async close() {
      closed = true;
      clearInterval(timer);
      await running?.catch(() => {});
    },
  };
}
