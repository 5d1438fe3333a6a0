import { fileURLToPath } from 'node:url';

/** The program of the compiler that the repository is checked with. */
export const tsc = fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url));
