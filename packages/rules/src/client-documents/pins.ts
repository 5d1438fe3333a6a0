import type { Store } from '@latchkey/store/store';
import type { DocumentHosts } from './hosts.ts';

/** The addresses that CLIENT_DOCUMENTS lets in, with those that are pinned. */
export interface Pins extends Pick<DocumentHosts, 'has' | 'names'> {
  /** Resolves to those that were pinned at the read before, and are no more. */
  read(store: Pick<Store, 'listPinned'>): Promise<string[]>;
}

export function createPins(hosts: DocumentHosts): Pins {
  let pinned: ReadonlySet<string> = new Set();
  let begun = 0;
  let latest = 0;
  return {
    has: (address) => hosts.has(address) || (pinned.has(address) && !hosts.excludes(address)),
    names: (address) => pinned.has(address) || hosts.names(address),
    async read(store) {
      begun += 1;
      const own = begun;
      const addresses = await store.listPinned();
      // A read that began earlier may end later.
      if (own < latest) return [];
      latest = own;
      const before = pinned;
      pinned = new Set(addresses);
      return [...before].filter((address) => !pinned.has(address));
    },
  };
}
