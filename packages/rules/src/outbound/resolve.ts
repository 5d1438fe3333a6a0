import { type LookupAddress, type LookupAllOptions, lookup } from 'node:dns';

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export type Resolve = (name: string, options: LookupAllOptions, found: Found) => void;

/**
 * Lookups of one name at a time are one. A slow name server holds a thread for each lookup, also after
 * nobody waits for it any more, and Node resolves names in two threads: then it holds one of them.
 */
export function joined(resolve: Resolve): Resolve {
  const running = new Map<string, Found[]>();
  return (name, options, found) => {
    const others = running.get(name);
    if (others !== undefined) {
      others.push(found);
      return;
    }
    const waiting = [found];
    running.set(name, waiting);
    resolve(name, options, (error, addresses) => {
      running.delete(name);
      for (const one of waiting) one(error, addresses);
    });
  };
}

/** As the machine resolves names. */
export const resolveName: Resolve = joined(lookup);
