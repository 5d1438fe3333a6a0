// A child process of the suite (see child.ts): opens DATABASE_URL with the driver of STORE_MODULE.

import type { StoreDriver } from '@latchkey/store/store-driver';
import { makeCalls } from './make-calls.ts';

const { STORE_MODULE = '', DATABASE_URL = '' } = process.env;
const { driver }: { driver: Pick<StoreDriver, 'open'> } = await import(STORE_MODULE);
makeCalls(await driver.open(DATABASE_URL, { clock: Date.now }));
