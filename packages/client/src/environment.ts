// What differs between the places where this runs. None of it may be there.
interface Surroundings {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  readonly window?: { readonly document?: unknown };
}

const surroundings: Surroundings = globalThis as object;

/** A variable of the environment; undefined where it is not set, or there is no environment. */
export function variable(name: string): string | undefined {
  return surroundings.process?.env?.[name];
}

/** Whether this runs in the page of a browser, or in what passes for one. */
export function isBrowser(): boolean {
  return surroundings.window?.document !== undefined;
}
