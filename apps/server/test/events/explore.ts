// Looks at every order of the steps of a small model.

export type Step<State> = readonly [name: string, next: State];

export interface Model<State, Promised> {
  /** Everything that can happen next. */
  stepsFrom(state: State): Step<State>[];
  keyOf(state: State): string;
  brokenIn(state: State): Promised | null;
  /** Nothing is left to do, whoever goes on. */
  isAtRest(state: State): boolean;
}

export interface Exploration<Promised> {
  states: number;
  /** What is broken, with the shortest way there; null: nothing in any state. */
  broken: { promise: Promised; steps: readonly string[] } | null;
}

/** Those with the fewest steps first. */
export function exploreFrom<State, Promised extends string>(
  start: State,
  { stepsFrom, keyOf, brokenIn, isAtRest: rests }: Model<State, Promised>,
): Exploration<Promised | 'comes to rest'> {
  const places = new Map([[keyOf(start), 0]]);
  const found: { state: State | null; from: number; step: string }[] = [
    { state: start, from: -1, step: '' },
  ];
  const cameFrom: number[][] = [[]];
  const atRest: number[] = [];
  const stepsTo = (place: number): string[] => {
    const { from, step } = found[place] ?? { from: -1, step: '' };
    return from === -1 ? [] : [...stepsTo(from), step];
  };
  const result = (promise: Promised | 'comes to rest', place: number) => ({
    states: found.length,
    broken: { promise, steps: stepsTo(place) },
  });

  for (let place = 0; place < found.length; place++) {
    const here = found[place] as (typeof found)[number];
    const state = here.state as State;
    here.state = null;
    const promise = brokenIn(state);
    if (promise !== null) return result(promise, place);
    if (rests(state)) atRest.push(place);
    for (const [step, next] of stepsFrom(state)) {
      const key = keyOf(next);
      const known = places.get(key);
      if (known === undefined) {
        places.set(key, found.length);
        cameFrom.push([place]);
        found.push({ state: next, from: place, step });
      } else {
        cameFrom[known]?.push(place);
      }
    }
  }

  const canRest = new Set(atRest);
  for (const place of canRest) for (const from of cameFrom[place] ?? []) canRest.add(from);
  const stuck = found.findIndex((_, place) => !canRest.has(place));
  return stuck === -1 ? { states: found.length, broken: null } : result('comes to rest', stuck);
}
