import { setTimeout as sleep } from 'node:timers/promises';

/** Delays a call as a network does: half of the latency before it, half after it. */
async function overNetwork<T>(milliseconds: number, call: () => T): Promise<Awaited<T>> {
  await sleep(milliseconds / 2);
  const result = await call();
  await sleep(milliseconds / 2);
  return result;
}

/** Adds a latency to each method of a store. */
export function withLatency<Store extends object>(store: Store, milliseconds: number): Store {
  if (milliseconds === 0) return store;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => overNetwork(milliseconds, () => member.apply(target, args));
    },
  });
}
