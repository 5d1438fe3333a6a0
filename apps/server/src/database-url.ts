import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { percentDecode } from '@latchkey/rules/percent-decode';
import { addressFault } from './open-store.ts';

/** Keeps nothing. */
export const IN_MEMORY_URL = 'file::memory:';

const HAS_CONTROLS = /\p{Cc}/u;

// A path is taken as it is written: nothing in it is decoded, cut off or expanded.
const PATH_FAULTS: readonly [pattern: RegExp, fault: string][] = [
  [/^$/, 'must have a path after file:'],
  [/:memory\b|^:|^memory:/, 'must be file::memory: for a database in memory'],
  [/(?:^|\/)\.{0,2}$/, 'must name a file, not a folder'],
  [HAS_CONTROLS, 'must have no line break or other control character in the path'],
  [/\?/, 'must have no ? in the path, which has no options'],
  [/#/, 'must have no # in the path: rename what has one'],
  [/%/, 'must have no % in the path, where nothing is decoded'],
  [/\\/, 'must have / in the path, not \\'],
  [/^(["']).*\1$/, 'must have no quotes around the path'],
  [/^\s|\s$/, 'must have no white space around the path'],
  [/^\/*[~$]/, 'must have the path itself, because nothing expands ~ and variables'],
  [/^[a-z][a-z\d+.-]+:/i, 'must have the path right after file:'],
  [/^\/\/(?!\/)/, 'must have no host: file:/// is followed by an absolute path'],
  [/^\/{4}/, 'must have three slashes at most'],
];

export interface DatabaseUrlFault {
  /** What the address must be, and how to write what was probably meant. */
  fault: string;
  /** Null if nobody can tell, or if it could be a secret. */
  meant: string | null;
}

/** @returns null for an address of a database */
export function databaseUrlFault(text: string): DatabaseUrlFault | null {
  const fault = faultOf(text);
  if (fault === null) return null;
  const meant = meantBy(text).filter((address) => faultOf(address) === null);
  if (meant.length === 0) return { fault, meant: null };
  return { fault: `${fault}; write ${meant.join(' or ')}`, meant: meant[0] ?? null };
}

function faultOf(text: string): string | null {
  if (text === IN_MEMORY_URL) return null;
  if (!text.startsWith('file:')) return addressFault(text);
  const path = text.slice('file:'.length);
  return PATH_FAULTS.find(([pattern]) => pattern.test(path))?.[1] ?? null;
}

const SCHEME = /^(?:\s*["']?(?:jdbc:)?(?:file|sqlite3?):)+/i;

/** Without a scheme, what could be a secret is no path. */
const PATH =
  /^(?::memory:?|(?:~|\.\.?|\$\w+|\$\{\w+\})[\\/][^?:@]*|(?:[a-z]:)?[^?:@]*\.(?:db|sqlite3?))$/i;

function meantBy(text: string): string[] {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined && !PATH.test(text)) return [];
  const given = text.slice(scheme?.length ?? 0).replace(/^\s*["']?|["']?\s*$/g, '');
  if (/:memory\b|^:|^memory:/.test(given)) return [IN_MEMORY_URL];
  const path = percentDecode(given.replace(/\?.*$/s, ''))
    .replaceAll('\\', '/')
    // No address has these, whatever the file is called.
    .replaceAll(/[?#%]/g, '-')
    .replace(/^\/*(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => resolve(homedir()));
  return spellings(path, /sqlite/i.test(scheme ?? ''));
}

function spellings(path: string, isSqlite: boolean): string[] {
  const [, slashes = '', rest = ''] = /^(\/*)(.*)$/s.exec(path) ?? [];
  const [absolute, relative] = [`file:///${rest}`, `file:./${rest}`];
  if (slashes.length < 2) return [`file:${path}`];
  // To some programs, sqlite:/// is followed by a path from the working directory.
  if (slashes.length === 3 && isSqlite) return [relative, absolute];
  if (slashes.length > 2) return [absolute];
  if (/^(?:\.\.?|[a-z]:)\//i.test(rest)) return [`file:${rest}`];
  const [, host = '', below] = /^([^/]*)\/(.+)$/s.exec(rest) ?? [];
  if (below === undefined) return [relative];
  return host === 'localhost' || /[@:]/.test(host) ? [`file:///${below}`] : [relative, absolute];
}
