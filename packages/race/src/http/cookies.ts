/** The cookies of a browser: as in others, one set for all ports of a host. Paths are ignored. */
export class Cookies {
  readonly #hosts = new Map<string, Map<string, string>>();

  /** Keeps a cookie, or takes it out, as a `Set-Cookie` header says. */
  keep({ hostname }: URL, line: string): void {
    const jar = this.#hosts.get(hostname) ?? new Map<string, string>();
    this.#hosts.set(hostname, jar);
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    const [, maxAge] = /; *Max-Age=(-?\d+)/i.exec(line) ?? [];
    const [, expires] = /; *Expires=([^;]+)/i.exec(line) ?? [];
    const isOver =
      maxAge === undefined ? expires && Date.parse(expires) <= Date.now() : Number(maxAge) <= 0;
    if (isOver) jar.delete(name);
    else jar.set(name, value);
  }

  /** The headers of a request that say them. */
  headersFor({ hostname }: URL): { cookie?: string } {
    const pairs = [...(this.#hosts.get(hostname) ?? [])].map((pair) => pair.join('='));
    return pairs.length === 0 ? {} : { cookie: pairs.join('; ') };
  }
}
