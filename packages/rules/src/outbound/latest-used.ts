interface Bytes<Value> {
  most: number;
  of(value: Value): number;
}

/**
 * A map with a bound. What was used longest ago goes first.
 *
 * @param bytes - of all values together. Default: any number
 */
export function createLatestUsed<Value>(
  most: number,
  bytes: Bytes<Value> = { most: 0, of: () => 0 },
) {
  // In the order of the last use.
  const entries = new Map<string, Value>();
  let sum = 0;
  function remove(key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    sum -= bytes.of(value);
    entries.delete(key);
  }
  function set(key: string, value: Value): void {
    remove(key);
    entries.set(key, value);
    sum += bytes.of(value);
    for (const oldest of entries.keys()) {
      if (entries.size <= most && sum <= bytes.most) break;
      remove(oldest);
    }
  }
  return {
    set,
    delete: remove,
    use(key: string): Value | undefined {
      const value = entries.get(key);
      if (value !== undefined) set(key, value);
      return value;
    },
  };
}
