// A process of the suite: opens the store of DATABASE_URL and makes the calls its parent sends.
// Run by plain node, see suite-child.ts.

import { DomainError } from '../domain-error.ts';
import { openStore } from './open-store.ts';
import type { FromChild, Outcome, StoreCall, ToChild } from './suite-child.ts';

const store = await openStore(process.env.DATABASE_URL ?? '', { clock: Date.now });
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
      make(call).then((outcome) => send({ index, outcome }));
    }
  } else {
    calls = message.load;
    send('loaded');
  }
});
// The parent lets go of us when it is done, and also when it dies.
process.on('disconnect', () => store.close().finally(() => process.exit()));
send('ready');
