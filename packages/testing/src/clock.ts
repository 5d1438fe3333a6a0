/** A clock that stands still until it is moved. */
export class TestClock {
  #now = Date.now();

  readonly now = (): number => this.#now;

  /** @throws RangeError where that is no way forward: ids are in the order of their times */
  advance(milliseconds: number): void {
    if (!Number.isSafeInteger(milliseconds) || milliseconds < 0) {
      throw new RangeError(
        `The clock goes forward, by whole milliseconds, and not by ${milliseconds}.`,
      );
    }
    this.#now += milliseconds;
  }
}
