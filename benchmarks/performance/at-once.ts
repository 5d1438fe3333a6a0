/** One operation on several servers. */
export interface Stage {
  /** Whether one of the loads has sent all it has: then the others send no more either. */
  isOver: boolean;
}

/**
 * Keeps loads on several servers together: each operation begins on all of them when all are ready,
 * and is over for all when it is for one. So at no time is one of them measured alone.
 */
export class AtOnce {
  readonly #count: number;
  #ready: ((stage: Stage) => void)[] = [];

  /** @param count - of the servers */
  constructor(count: number) {
    this.#count = count;
  }

  /** Resolves when all are ready. */
  begin(): Promise<Stage> {
    return new Promise((resolve) => {
      this.#ready.push(resolve);
      if (this.#ready.length < this.#count) return;
      const stage = { isOver: false };
      for (const begin of this.#ready.splice(0)) begin(stage);
    });
  }
}
