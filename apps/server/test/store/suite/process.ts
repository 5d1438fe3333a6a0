// A child process of the suite (see child.ts), on the store of DATABASE_URL.

import { openStore } from '../../../src/store/open-store.ts';
import { makeCalls } from './make-calls.ts';

makeCalls(await openStore(process.env.DATABASE_URL ?? '', { clock: Date.now }));
