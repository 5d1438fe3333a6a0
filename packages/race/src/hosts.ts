import { WrongOption } from './wrong-option.ts';

/** No name below `localhost`: a name server may lead it elsewhere. */
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

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
