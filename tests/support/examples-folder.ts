import { fileURLToPath } from 'node:url';

/** The folder of the programs for users and of the packages that they import. */
export const examplesFolder = fileURLToPath(new URL('../../examples/', import.meta.url));
