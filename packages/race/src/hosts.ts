import { WrongOption } from './wrong-option.ts';

const LOOPBACK = /^(?:(?:[\w-]+\.)*localhost|127(?:\.\d{1,3}){3}|\[::1\])$/i;

export const isLoopback = (url: URL): boolean => LOOPBACK.test(url.hostname);

/** The hosts that requests may go to: the loopback, and those that the user names. */
export class Hosts {
  readonly #named: ReadonlySet<string>;

  constructor(names: readonly string[]) {
    this.#named = new Set(names.map((name) => name.toLowerCase()));
  }

  /** @throws WrongOption */
  check(url: URL): void {
    if (!/^https?:$/.test(url.protocol)) {
      throw new WrongOption(`${url.protocol}//${url.host} is no address of HTTP.`);
    }
    if (isLoopback(url) || this.#named.has(url.hostname)) return;
    throw new WrongOption(
      `${url.hostname} is not this machine. If it is a server that you may attack, add: --host ${url.hostname}`,
    );
  }
}
