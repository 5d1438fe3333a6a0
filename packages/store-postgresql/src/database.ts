import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import {
  beforeDeadline,
  isPastDeadline,
  pastDeadline,
  requestScope,
} from '@latchkey/domain/request-scope';
import type { Pool, PoolClient } from 'pg';
import { DatabaseError, isConflict, isOfServer, unavailable, WaitCancelled } from './errors.ts';
import { createPool, hasCancelledWait } from './pool.ts';
import type { Timeouts } from './timeouts.ts';

// biome-ignore lint/suspicious/noExplicitAny: whoever writes a statement knows what it returns
export type Row = Record<string, any>;

/** Sends one statement, and returns its rows. */
export type Send = (text: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A deadlock ends one of those that wait for each other, so few repetitions are enough. */
const REPETITIONS = 5;

export class Database {
  readonly pool: Pool;
  readonly #timeouts: Timeouts;
  readonly #running = new Set<Promise<unknown>>();
  readonly #closing = new AbortController();

  constructor(url: string, timeouts: Timeouts) {
    this.pool = createPool(url, timeouts);
    this.#timeouts = timeouts;
  }

  /**
   * A read. If it decides something, `FENCED` is among its conditions: then it sees every acknowledged write.
   *
   * @throws DomainError `store_unavailable`
   */
  async read(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#run(async () => {
      try {
        return await this.send(text, values);
      } catch (error) {
        // Such as an idle connection that the server has closed.
        if (!isLost(error)) throw error;
        return this.send(text, values);
      }
    });
  }

  /**
   * A write of one statement, with `FENCED` among its conditions. It is not sent again if its response is lost.
   *
   * @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown`
   */
  write(text: string, values?: readonly unknown[]): Promise<Row[]> {
    return this.#run(
      () => this.send(text, values).catch(doubted),
      () => new DomainError('outcome_unknown'),
    );
  }

  /**
   * Statements of one transaction, of which each write has `FENCED` among its conditions. They are made again after a
   * conflict.
   *
   * @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown`
   */
  transaction<T>(work: (send: Send) => Promise<T>): Promise<T> {
    return this.#run(
      () => this.#repeated(() => this.#inTransaction(work)).catch(doubted),
      () => new DomainError('outcome_unknown'),
    );
  }

  /** @throws DatabaseError */
  send(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#repeated(() => this.#withClient((send) => send(text, values)));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled(this.#running);
    await this.pool.end();
  }

  async #run<T>(work: () => Promise<T>, late?: () => DomainError): Promise<T> {
    if (this.#closing.signal.aborted) throw closed();
    if (isPastDeadline()) throw pastDeadline();
    const result = work().catch((error) => {
      throw unavailable(error);
    });
    this.#running.add(result);
    const done = () => this.#running.delete(result);
    result.then(done, done);
    return beforeDeadline(result, late);
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    for (let left = REPETITIONS; ; left--) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof DatabaseError) || !isConflict(error) || left === 0) throw error;
      }
      await sleep(Math.random() * 10);
    }
  }

  #inTransaction<T>(work: (send: Send) => Promise<T>): Promise<T> {
    return this.#withClient(async (send) => {
      await send('BEGIN');
      try {
        const result = await work(send);
        await send('COMMIT');
        return result;
      } catch (error) {
        await send('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  /** A connection that is late is destroyed: to cancel a statement could acknowledge what no standby has. */
  async #withClient<T>(work: (send: Send) => Promise<T>): Promise<T> {
    const client = await this.pool.connect().catch((error: unknown) => {
      throw new DatabaseError(error, true);
    });
    let isHeld = true;
    const release = (isBroken: boolean) => {
      if (isHeld) client.release(isBroken);
      isHeld = false;
    };
    try {
      return await work(async (text, values) => {
        const timer = setTimeout(release, this.#timeLeft(), true);
        try {
          const { rows } = await client.query(text, values as unknown[]);
          if (hasCancelledWait(client)) throw new WaitCancelled();
          return rows;
        } catch (error) {
          if (error instanceof WaitCancelled) throw error;
          throw new DatabaseError(error, isOfServer(error) && (await isAlive(client)));
        } finally {
          clearTimeout(timer);
        }
      });
    } catch (error) {
      if (!(error instanceof DatabaseError) || !error.isRefused) release(true);
      throw error;
    } finally {
      release(false);
    }
  }

  #timeLeft(): number {
    const { endsAt = Number.POSITIVE_INFINITY } = requestScope() ?? {};
    return Math.min(this.#timeouts.operation, endsAt - performance.now());
  }
}

/** The server closes a connection after an error that leaves open whether the commit was made. */
async function isAlive(client: PoolClient): Promise<boolean> {
  try {
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    // In a transaction that has failed: https://www.postgresql.org/docs/current/errcodes-appendix.html.
    return isOfServer(error) && (error as Error & { code: string }).code === '25P02';
  }
}

const isLost = (error: unknown) => error instanceof DatabaseError && !error.isRefused;

function doubted(error: unknown): never {
  if (error instanceof DatabaseError && error.isRefused) throw error;
  throw new DomainError('outcome_unknown', {}, error);
}

const closed = () => new DomainError('store_unavailable', {}, new Error('The store is closed.'));
