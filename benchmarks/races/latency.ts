import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds that each call of a store takes on top of its own time. */
export type Latency = number;

/** Makes a call as over a network: half of the latency on the way there, half on the way back. */
async function overNetwork<T>(latency: Latency, call: () => T): Promise<Awaited<T>> {
  await sleep(latency / 2);
  const result = await call();
  await sleep(latency / 2);
  return result;
}

/** A store each of whose methods is called as over a network. */
export function distant<Store extends object>(store: Store, latency: Latency): Store {
  if (latency === 0) return store;
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => overNetwork(latency, () => member.apply(target, args));
    },
  });
}
