// Globals that only some runtimes have.
interface Globals {
  readonly process?: { readonly env?: Readonly<Record<string, string | undefined>> };
  readonly window?: { readonly document?: unknown };
}

const globals: Globals = globalThis as object;

/** An environment variable; undefined if it is not set, or the runtime has no environment. */
export function environmentVariable(name: string): string | undefined {
  return globals.process?.env?.[name];
}

/** Whether this runs in a browser page, or in an imitation of one such as jsdom. */
export function isBrowser(): boolean {
  return globals.window?.document !== undefined;
}

declare const PACKAGE_VERSION: string | undefined;

/** The version of this package, set by the build; `source` if nothing was built. */
export const version: string = typeof PACKAGE_VERSION === 'undefined' ? 'source' : PACKAGE_VERSION;
