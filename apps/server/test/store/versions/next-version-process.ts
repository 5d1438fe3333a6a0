// A child process of the next version: see ../suite/child.ts.

import { makeCalls } from '../suite/make-calls.ts';
import { openNextStore } from './next-version.ts';

makeCalls(await openNextStore(process.env.DATABASE_URL ?? ''));
