import { readFileSync } from 'node:fs';

/** Editors and `echo` add a line break. */
export function readSecretFile(path: string): string {
  return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
}
