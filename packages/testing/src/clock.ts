/** A clock that stands still until it is moved. */
export class TestClock {
  #now = Date.now();

  readonly now = (): number => this.#now;

  /** @throws RangeError unless it moves forward: the order of ids depends on it */
  advance(milliseconds: number): void {
    if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
      throw new RangeError(
        `The clock moves forward by an integer of milliseconds, not by ${milliseconds}. Pass an integer of 0 or more.`,
      );
    }
    this.#now += milliseconds;
  }
}
