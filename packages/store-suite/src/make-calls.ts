import { DomainError } from '@latchkey/domain/domain-error';
import type { Store } from '@latchkey/store/store';
import type { FromChild, Outcome, StoreCall, ToChild } from './child.ts';

/** Makes the calls that the parent sends on a store: see child.ts. */
export function makeCalls(store: Store): void {
  let calls: StoreCall[] = [];

  function send(message: FromChild): void {
    process.send?.(message);
  }

  async function make({ method, args }: StoreCall): Promise<Outcome> {
    try {
      const call = store[method] as (...args: unknown[]) => Promise<unknown>;
      return { value: await call.apply(store, args) };
    } catch (error) {
      return { rejected: error instanceof DomainError ? error.code : String(error) };
    }
  }

  process.on('message', (message: ToChild) => {
    if (message === 'go') {
      for (const [index, call] of calls.entries()) {
        void make(call).then((outcome) => send({ index, outcome }));
      }
    } else {
      calls = message.load;
      send('loaded');
    }
  });
  // The parent disconnects when it is done, and when it dies.
  process.on('disconnect', () => store.close().finally(() => process.exit()));
  send('ready');
}
