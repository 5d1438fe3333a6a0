import type { EndpointRecord } from '@latchkey/store/records';
import type { EndedTry, Store } from '@latchkey/store/store';

/**
 * Writes down the ends of tries. Those that end while others are written down are written together.
 *
 * @param onDisabled - of an endpoint that its tries have disabled
 */
export function createEndings(
  store: Pick<Store, 'endTries'>,
  onDisabled: (endpoint: EndpointRecord) => void,
): (ended: EndedTry) => Promise<void> {
  let waiting: { ended: EndedTry; done: PromiseWithResolvers<void> }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        for (const endpoint of await store.endTries(batch.map(({ ended }) => ended))) {
          onDisabled(endpoint);
        }
        for (const { done } of batch) done.resolve();
      } catch (error) {
        for (const { done } of batch) done.reject(error);
      }
    }
    isWriting = false;
  }

  return (ended) => {
    const done = Promise.withResolvers<void>();
    waiting.push({ ended, done });
    if (!isWriting) void writeAll();
    return done.promise;
  };
}
