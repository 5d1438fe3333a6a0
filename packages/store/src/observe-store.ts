import type { Store } from './store.ts';
import type { StoreDriver } from './store-driver.ts';

export type StoreMethod = {
  [Name in keyof Store]-?: Store[Name] extends (...args: never[]) => Promise<unknown>
    ? Name
    : never;
}[Exclude<keyof Store, 'close'>];

export type StoreObserver = <T>(
  method: StoreMethod,
  run: () => Promise<T>,
  system: StoreDriver['system'],
) => Promise<T>;

const NO_CALLS: ReadonlySet<string> = new Set(['close', 'connectionPool', 'clockDifference']);

const isObserved = (store: Store, name: string): name is StoreMethod =>
  !NO_CALLS.has(name) && typeof store[name as keyof Store] === 'function';

export function methodsOf(store: Store): StoreMethod[] {
  return Object.keys(store).filter((name) => isObserved(store, name));
}

export function observeStore(
  store: Store,
  observe: StoreObserver,
  { system }: Pick<StoreDriver, 'system'>,
): Store {
  const observed = methodsOf(store).map((method) => {
    const call = store[method] as (...args: unknown[]) => Promise<unknown>;
    return [method, (...args: unknown[]) => observe(method, () => call(...args), system)];
  });
  return { ...store, ...Object.fromEntries(observed) };
}
