/**
 * Does something once for all who ask for the same in one turn of the event loop: requests that
 * waited for each other are worked on together, and most are of few applications.
 *
 * What is under way is shared only until the microtasks that it was asked for in are through, and
 * nothing is received in between. So it began after each of the requests that share it was there,
 * and finds for each a state no older than its arrival, as if it had asked alone: a secret that
 * another process has removed is refused from the next request on.
 */
export function shareInTurn<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  return (key) => {
    const shared = underWay.get(key);
    if (shared !== undefined) return shared;
    if (underWay.size === 0) process.nextTick(() => underWay.clear());
    const begun = work(key);
    underWay.set(key, begun);
    return begun;
  };
}
