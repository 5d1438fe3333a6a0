import { putNewest } from '../limits/limit.ts';

/** A map with a bound. What was used longest ago goes first. */
export function createLatestUsed<Value>(most: number) {
  // In the order of the last use.
  const entries = new Map<string, Value>();
  const set = (key: string, value: Value) => putNewest(entries, key, value, most);
  return {
    set,
    delete: (key: string) => entries.delete(key),
    use(key: string): Value | undefined {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
  };
}
