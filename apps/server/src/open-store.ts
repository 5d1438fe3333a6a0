import type { StoreDriver } from '@latchkey/store/store-driver';
import { driver as mongodb } from '@latchkey/store-mongodb/driver';
import { driver as postgresql } from '@latchkey/store-postgresql/driver';
import { driver as sqlite } from '@latchkey/store-sqlite/driver';

/** The databases that this program can use, each with every scheme of its URLs. */
const drivers = [sqlite, mongodb, postgresql].flatMap((driver) =>
  driver.schemes.map((scheme) => ({ scheme, driver })),
);

const schemes = drivers.map(({ scheme }) => scheme);

const SCHEME_FAULT = `must start with ${schemes.slice(0, -1).join(', ')} or ${schemes.at(-1)}`;

const find = (url: string) =>
  drivers.find(({ scheme }) => url.startsWith(scheme) && url.length > scheme.length)?.driver;

/** What is wrong with the URL of a database, as far as it can be told without opening it; null if nothing is. */
export function addressFault(text: string): string | null {
  const driver = find(text);
  return driver === undefined ? SCHEME_FAULT : (driver.addressFault?.(text) ?? null);
}

export function driverOf(url: string): StoreDriver {
  const driver = find(url);
  if (driver !== undefined) return driver;
  // Without the URL, which may have a password.
  throw new Error(`The URL of a database ${SCHEME_FAULT}.`);
}
