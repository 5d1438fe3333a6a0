/**
 * Grants so many at once, and so many a second from then on. It answers at once: a limiter that
 * answers with a promise would hold in memory what a flood brings meanwhile.
 */
export class Allowance {
  readonly #most: number;
  readonly #perSecond: number;
  #left: number;
  #countedAt = performance.now();

  constructor(limits: { most: number; perSecond: number }) {
    this.#most = limits.most;
    this.#perSecond = limits.perSecond;
    this.#left = limits.most;
  }

  /** Takes one, if there is one. */
  take(): boolean {
    const now = performance.now();
    const grown = this.#left + ((now - this.#countedAt) / 1000) * this.#perSecond;
    this.#countedAt = now;
    this.#left = Math.min(this.#most, grown);
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
