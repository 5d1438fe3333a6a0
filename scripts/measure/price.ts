import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { PRODUCTION, TEST } from './lines.ts';

const cwd = fileURLToPath(new URL('../../', import.meta.url));

// The price of other changes than those of changes/, estimated: in how many files something of a kind is named. Not
// all of them had to change for it, since later work names it too, and a file may know it by another name.

/** One of each kind, by all its names. None is a part of another name. */
const EXAMPLES: Record<string, RegExp> = {
  'error code: resource_limit_reached': /\bresource_limit_reached\b/,
  'setting: REVOKED_GRANT_DAYS': /\b(REVOKED_GRANT_DAYS|revokedGrantDays)\b/,
  'metric: log_dropped_total': /\blatchkey_log_dropped_total\b/,
  'event type: account.updated': /\baccount\.updated\b/,
};

/** What git calls generated: see .gitattributes. */
function generatedOf(paths: readonly string[]): Set<string> {
  const words = ['check-attr', '-z', 'linguist-generated', '--', ...paths];
  const fields = execFileSync('git', words, { cwd, encoding: 'utf8' }).split('\0');
  return new Set(fields.filter((_, place) => fields[place + 2] === 'set' && place % 3 === 0));
}

/** The files that name one thing. Pages, examples and what is deployed are `docs`. */
export interface Price {
  change: string;
  production: number;
  tests: number;
  docs: number;
  generated: number;
}

function kindOf(path: string): Exclude<keyof Price, 'change' | 'generated'> {
  if (TEST.test(path)) return 'tests';
  return PRODUCTION.test(path) ? 'production' : 'docs';
}

export function pricesOfChanges(): Price[] {
  return Object.entries(EXAMPLES).map(([change, names]) => {
    const price: Price = { change, production: 0, tests: 0, docs: 0, generated: 0 };
    const words = ['grep', '-lP', '--untracked', names.source, '--', '.', ':!scripts/measure'];
    const found = execFileSync('git', words, { cwd, encoding: 'utf8' }).trim().split('\n');
    const generated = generatedOf(found);
    for (const path of found) price[generated.has(path) ? 'generated' : kindOf(path)]++;
    return price;
  });
}
