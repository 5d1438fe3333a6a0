import type { Store, StoreOptions } from '@latchkey/store/store';
import type { StoreDriver } from '@latchkey/store/store-driver';
import { driver as mongodb } from '@latchkey/store-mongodb/driver';
import { driver as sqlite } from '@latchkey/store-sqlite/driver';

/** The databases that this program can use, each with every scheme of its URLs. */
const drivers = [sqlite, mongodb].flatMap((driver) =>
  driver.schemes.map((scheme) => ({ scheme, driver })),
);

const schemes = drivers.map(({ scheme }) => scheme);

/** What the URL of a database must start with, for messages. */
export const DATABASE_URL_SCHEMES = `${schemes.slice(0, -1).join(', ')} or ${schemes.at(-1)}`;

const find = (url: string) =>
  drivers.find(({ scheme }) => url.startsWith(scheme) && url.length > scheme.length)?.driver;

export const isDatabaseUrl = (text: string): boolean => find(text) !== undefined;

export function driverOf(url: string): StoreDriver {
  const driver = find(url);
  if (driver !== undefined) return driver;
  // Without the URL, which may have a password.
  throw new Error(`The URL of a database must start with ${DATABASE_URL_SCHEMES}.`);
}

export const openStore = (url: string, options: StoreOptions): Promise<Store> =>
  driverOf(url).open(url, options);
