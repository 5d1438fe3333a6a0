import { DomainError } from '@latchkey/domain/domain-error';
import {
  beforeDeadline,
  isPastDeadline,
  pastDeadline,
  requestScope,
} from '@latchkey/domain/request-scope';

/** The calls of a store on a server: each after the store is prepared, and none after it is closed. */
export class Calls<Prepared> {
  readonly #prepare: () => Promise<Prepared>;
  #preparation: Promise<Prepared> | undefined;
  #prepared: { readonly result: Prepared } | undefined;
  readonly #closing = new AbortController();
  readonly closing = this.#closing.signal;
  readonly #running = new Set<Promise<unknown>>();
  readonly #sequences = new Set<Promise<unknown>>();

  /** @param prepare - before the first call; again if it has failed */
  constructor(prepare: () => Promise<Prepared>) {
    this.#prepare = prepare;
  }

  async prepare(): Promise<Prepared> {
    if (this.#prepared) return this.#prepared.result;
    this.#preparation ??= this.#prepare().finally(() => {
      this.#preparation = undefined;
    });
    const result = await this.#preparation;
    this.#prepared = { result };
    return result;
  }

  /**
   * Ends with the request, while its work goes on.
   *
   * @throws DomainError `store_unavailable` if it cannot be prepared
   */
  run<T>(work: (prepared: Prepared) => Promise<T>, late?: () => DomainError): Promise<T> {
    const result = this.#whenPrepared(work);
    this.#running.add(result);
    const done = () => this.#running.delete(result);
    result.then(done, done);
    return beforeDeadline(result, late);
  }

  /** Steps that belong together: those that are left are still made while the store is closed. */
  async inSequence<T>(steps: () => Promise<T>): Promise<T> {
    if (this.closing.aborted) throw closed();
    const made = steps();
    this.#sequences.add(made);
    try {
      return await made;
    } finally {
      this.#sequences.delete(made);
    }
  }

  /** No request waits any more, so writes with an unknown outcome are given up. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#sequences);
    await Promise.allSettled([...this.#running, this.#preparation]);
  }

  async #whenPrepared<T>(work: (prepared: Prepared) => Promise<T>): Promise<T> {
    if (this.closing.aborted && this.#sequences.size === 0) throw closed();
    // Of the call: once the request is over, nothing is written for it any more.
    const scope = requestScope();
    let prepared = this.#prepared;
    try {
      prepared ??= { result: await this.prepare() };
    } catch (error) {
      // Even one that waiting does not help: an operator may do something about it.
      throw new DomainError('store_unavailable', {}, error);
    }
    if (isPastDeadline(scope)) throw pastDeadline();
    return work(prepared.result);
  }
}

const closed = () => new DomainError('store_unavailable', {}, new Error('The store is closed.'));
