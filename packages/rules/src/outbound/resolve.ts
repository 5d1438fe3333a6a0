import {
  type LookupAddress,
  type LookupAllOptions,
  lookup,
  NODATA,
  NOTFOUND,
  SERVFAIL,
  TIMEOUT,
} from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

export type Resolve = (name: string, options: LookupAllOptions, found: Found) => void;

/** Lookups of one name at a time are one. */
export function joined(resolve: Resolve): Resolve {
  const running = new Map<string, Found[]>();
  return (name, options, found) => {
    const others = running.get(name);
    if (others !== undefined) {
      others.push(found);
      return;
    }
    const waiting = [found];
    running.set(name, waiting);
    resolve(name, options, (error, addresses) => {
      running.delete(name);
      for (const one of waiting) one(error, addresses);
    });
  };
}

/** What a machine resolves names with. */
interface NameSources {
  hostsFile?: string;
  /** For its search domains. */
  configFile?: string;
  /** Such as `127.0.0.1:5353`. Default: as the machine is configured. */
  servers?: readonly string[];
  /** For a name, with all its search domains. Below that of a fetch. */
  timeout?: Milliseconds;
}

// Each server is asked up to three times; if there is one, after 0, 1 and 3 seconds.
const QUERIES = { timeout: 1_000, tries: 3 };

// Of 64 KB of addresses or aliases, c-ares takes 35 ms of the event loop: the time grows with the square of their number.
// So whoever gives a name more than any honest one has, or aliases alone, keeps their place 40 times as long.
const MOST_ADDRESSES = 64;
const REST_AFTER_MANY: Milliseconds = 1_500;

/** c-ares takes it for a success. */
class OnlyAliases extends Error {
  override readonly name = 'OnlyAliases';
  readonly code = NODATA;
}

/** How long the addresses of one family are waited for once those of the other are there. */
const OTHER_FAMILY: Milliseconds = 300;

const HOSTS_FILE =
  process.platform === 'win32'
    ? join(process.env.SystemRoot ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
    : '/etc/hosts';

/**
 * Resolves names without a thread, so that slow name servers of strangers hold up no other name (decision
 * 75): by the hosts file, and then by name servers.
 */
export function createResolve({
  hostsFile = HOSTS_FILE,
  configFile = '/etc/resolv.conf',
  servers,
  timeout = 4_000,
}: NameSources = {}): Resolve {
  async function find(name: string): Promise<LookupAddress[]> {
    const local = hostsIn(await linesOf(hostsFile), name);
    if (local.length > 0) return local;
    const names = searchedNames(await linesOf(configFile), name);
    // One for each name: what it learns of the servers, by a name that they are slow with, ends with it.
    const resolver = new Resolver(QUERIES);
    if (servers !== undefined) resolver.setServers(servers);
    const late = Promise.withResolvers<never>();
    const error = Object.assign(new Error(`${name} is late`), { code: TIMEOUT });
    const timer = setTimeout(() => late.reject(error), timeout);
    try {
      const found = await Promise.race([ask(resolver, names), late.promise]);
      if (found.length > MOST_ADDRESSES) await sleep(REST_AFTER_MANY);
      return found;
    } finally {
      clearTimeout(timer);
      resolver.cancel();
    }
  }
  return joined((name, options, found) => {
    // Machines have more ways to resolve such a name than ours. No document of a stranger gets here with one.
    if (!name.replace(/\.$/, '').includes('.')) return lookup(name, options, found);
    find(name).then(
      (addresses) => found(null, addresses),
      (error) => found(error, []),
    );
  });
}

/** As the machine resolves names. */
export const resolveName: Resolve = createResolve();

/** Without comments, as words. */
async function linesOf(file: string): Promise<string[][]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter((word) => word !== ''),
  );
}

function hostsIn(lines: string[][], name: string): LookupAddress[] {
  const host = name.replace(/\.$/, '');
  return lines.flatMap(([address = '', ...names]) => {
    const family = names.some((one) => one.toLowerCase() === host) ? isIP(address) : 0;
    return family === 0 ? [] : { address, family };
  });
}

/** With the search domains of resolv.conf(5): behind the name itself if it has as many dots as `ndots` says. */
function searchedNames(lines: string[][], name: string): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const [, ...domains] = lines.findLast(([key]) => key === 'search' || key === 'domain') ?? [];
  const searched = domains
    .map((domain) => domain.replace(/\.$/, ''))
    .flatMap((domain) => (domain === '' ? [] : `${name}.${domain}`));
  const options = lines.flatMap(([key, ...words]) => (key === 'options' ? words : []));
  const ndots = options.flatMap((word) => /^ndots:(\d+)$/.exec(word)?.[1] ?? []).at(-1) ?? 1;
  const dots = name.split('.').length - 1;
  return dots >= Number(ndots) ? [name, ...searched] : [...searched, name];
}

const isMissing = ({ code }: NodeJS.ErrnoException) =>
  code === NOTFOUND || code === NODATA || code === SERVFAIL;

/** The addresses of the first name that has some. */
async function ask(resolver: Resolver, [name = '', ...others]: string[]): Promise<LookupAddress[]> {
  // A machine without IPv6 has a route to the first.
  const families = [4, 6].map(async (family) => {
    const all = await (family === 4 ? resolver.resolve4(name) : resolver.resolve6(name));
    if (all.length === 0) throw new OnlyAliases();
    return all.map((address) => ({ address, family }));
  });
  const both = Promise.allSettled(families);
  try {
    const first = await Promise.any(families);
    // Some servers never answer for IPv6.
    return await Promise.race([
      both.then((all) => all.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))),
      sleep(OTHER_FAMILY, first, { ref: false }),
    ]);
  } catch (failure) {
    const { errors } = failure as AggregateError;
    if (errors.some((one) => one instanceof OnlyAliases)) await sleep(REST_AFTER_MANY);
    const error = errors.find((one) => !isMissing(one)) ?? errors[0];
    if (isMissing(error) && others.length > 0) return ask(resolver, others);
    throw error;
  }
}
