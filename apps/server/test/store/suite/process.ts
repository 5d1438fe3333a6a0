// A child process of the suite (see child.ts): opens the store of DATABASE_URL and makes the calls
// that its parent sends.

import { DomainError } from '../../../src/domain-error.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { FromChild, Outcome, StoreCall, ToChild } from './child.ts';

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
// The parent disconnects when it is done, and when it dies.
process.on('disconnect', () => store.close().finally(() => process.exit()));
send('ready');
