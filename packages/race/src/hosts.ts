import { BlockList, isIPv4 } from 'node:net';
import { WrongOption } from './wrong-option.ts';

/** No name below `localhost`: a name server may lead it elsewhere. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

/** A connection to 0.0.0.0 is one to the loopback. An IPv4 address within one of IPv6 counts as itself. */
const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8);
loopback.addAddress('0.0.0.0');
loopback.addAddress('::1', 'ipv6');
loopback.addAddress('::', 'ipv6');

export const isLoopbackAddress = (address: string): boolean =>
  loopback.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');

/** The hosts that requests may go to: those that the user names, or the loopback where none is named. */
export class Hosts {
  readonly #named: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#named = new Set(names.map((name) => name.toLowerCase()));
  }

  /**
   * @param what - is at this URL, for the message
   * @throws WrongOption
   */
  check(url: URL, what = 'The page'): void {
    if (!/^https?:$/.test(url.protocol)) {
      throw new WrongOption(
        `${what} is at ${url.protocol}//${url.host}, which is no address of HTTP.`,
      );
    }
    if (this.#named.has(url.hostname) || (this.#named.size === 0 && isLoopback(url))) return;
    // A server elsewhere could lead the attack to whatever listens on this machine.
    const where = isLoopback(url) ? 'not named by --host' : 'not this machine';
    throw new WrongOption(
      `${what} is at ${url.hostname}, which is ${where}. Only if that is a server for tests which you may attack, add: --host ${url.hostname}`,
    );
  }
}
