/** Marks every error of this package. All copies of the package use the same symbol. */
export const BRAND = Symbol.for('@latchkey/client/error');

// Not in errors.ts, so that the guards' bundle does not contain every error class of the client.
/** Whether a value is an error of this package, from any copy of it. */
export function hasBrand(value: unknown): boolean {
  return typeof value === 'object' && value !== null && BRAND in value;
}
