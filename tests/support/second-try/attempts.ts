import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Fails as often as it is told, in all runs that share the folder `ATTEMPTS`. */
export function failAtFirst(name: string, times: number): void {
  const folder = process.env.ATTEMPTS as string;
  const before = readdirSync(folder).filter((file) => file.startsWith(name)).length;
  writeFileSync(join(folder, `${name}-${before}`), '');
  if (before < times) throw new Error('as planted');
}
