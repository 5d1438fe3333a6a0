import { readFileSync } from 'node:fs';
import { BadSetting } from '@latchkey/domain/bad-setting';
import type { PoolConfig } from 'pg';

// `pg` takes any option of an address, known or not, and fills in what is missing from PGPASSWORD, PGSSLMODE and
// others. So the address is read here, and nothing is left for `pg` to fill in.

/** Any other character has to be percent-encoded. So no part of a password is read as a host or an option. */
const PART = String.raw`[^\s:/?#[\]@]+`;
const ADDRESS = new RegExp(
  String.raw`^postgres(?:ql)?://(${PART})(?::(${PART}))?@(\[[\da-f:.]+\]|[^\s:/?#[\]@,]+)(?::(\d{1,5}))?/(${PART})(?:\?([^\s?#@]+))?$`,
);

const SHAPE =
  'must be like postgresql://user:password@host:5432/latchkey, with the user and the password percent-encoded';

const OPTIONS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'pool_size'] as const;

/** Statements are batched, so few connections are enough. */
const DEFAULT_POOL_SIZE = 16;

/** What is wrong with an address, without a part of it; null if nothing is. */
export function addressFault(url: string): string | null {
  const read = readAddress(url);
  return typeof read === 'string' ? read : null;
}

/** @throws BadSetting if the address has a fault, or a file that it names cannot be read */
export function poolConfigOf(url: string) {
  const read = readAddress(url);
  if (typeof read === 'string') throw new BadSetting(`DATABASE_URL ${read}`);
  const { password, options, ...server } = read;
  return {
    ...server,
    // As a function: `pg` would replace an empty password by PGPASSWORD or a line of ~/.pgpass.
    password: () => password,
    ssl: options.get('sslmode') === 'verify-full' && certificates(options),
    max: Number(options.get('pool_size') ?? DEFAULT_POOL_SIZE),
  } satisfies PoolConfig;
}

function readAddress(url: string) {
  const found = ADDRESS.exec(url);
  if (found === null) return SHAPE;
  const [user, password, host, port, database] = found.slice(1, 6).map(decoded);
  if (!user || password === undefined || !host || !database) return SHAPE;
  const options = new Map(new URLSearchParams(found[6]));
  return (
    optionsFault(options) ?? {
      ...{ user, password, database, options, port: Number(port || 5432) },
      host: host.replace(/^\[|\]$/g, ''),
    }
  );
}

/** Undefined if it can't be decoded, or has a control character. */
function decoded(part = ''): string | undefined {
  try {
    const text = decodeURIComponent(part);
    return /\p{Cc}/u.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function optionsFault(options: ReadonlyMap<string, string>): string | null {
  const named = new Set<string>(OPTIONS);
  if (![...options.keys()].every((name) => named.has(name))) {
    return `must have no options but ${OPTIONS.join(', ')}`;
  }
  const mode = options.get('sslmode') ?? 'disable';
  // The other modes of libpq accept whoever answers, or send everything in the clear if the server says so.
  if (mode !== 'disable' && mode !== 'verify-full') {
    return 'must have sslmode=verify-full, with sslrootcert unless Node trusts the authority of the server, or sslmode=disable';
  }
  if (mode === 'disable' && ['sslrootcert', 'sslcert', 'sslkey'].some((name) => options.has(name)))
    return 'must have sslmode=verify-full where it names certificates';
  if (options.has('sslcert') !== options.has('sslkey')) {
    return 'must have both sslcert and sslkey, or neither';
  }
  const size = options.get('pool_size');
  return size === undefined || /^[1-9]\d{0,3}$/.test(size)
    ? null
    : 'must have a pool_size from 1 to 9999';
}

function certificates(options: ReadonlyMap<string, string>) {
  const read = (name: string) => {
    const path = options.get(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : 'it is no file';
      throw new BadSetting(`DATABASE_URL: cannot read the file of ${name} (${code})`);
    }
  };
  return { ca: read('sslrootcert'), cert: read('sslcert'), key: read('sslkey') };
}
