import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainError } from '@latchkey/domain/domain-error';
import { isPastDeadline, pastDeadline, requestScope } from '@latchkey/domain/request-scope';
import { Calls } from '@latchkey/store/calls';
import type { Timeouts } from '@latchkey/store/server-store';
import {
  outcomeUnknown,
  type Sent,
  type Write as SettledWrite,
  settle,
} from '@latchkey/store/uncertain-writes';
import type { Pool, PoolClient } from 'pg';
import {
  DatabaseError,
  isConflict,
  isDatabaseError,
  isOfServer,
  isOfStandby,
  settingsError,
  tooLate,
  unavailable,
  waitCancelled,
} from './errors.ts';
import { createPool, hasCancelledWait } from './pool.ts';

// biome-ignore lint/suspicious/noExplicitAny: whoever writes a statement knows what it returns
export type Row = Record<string, any>;
export type Values = readonly unknown[];

/** Sends a statement of a transaction. */
export type Send = (text: string, values?: Values) => Promise<Row[]>;

type Begin = () => boolean;

/** A write of one statement. */
export interface Write<T> extends Omit<SettledWrite<T>, 'send'> {
  /** @param begin - called just before it is sent; false if it is too late for that */
  send(begin: Begin): Promise<T>;
}

/** A deadlock ends one of those that wait for each other, so few repetitions are enough. */
const REPETITIONS = 5;

export class Database {
  readonly pool: Pool;
  readonly #timeouts: Timeouts;
  readonly #calls: Calls<void>;

  /** @param prepare - before the first call; again if it has failed */
  constructor(
    url: string,
    timeouts: Timeouts,
    prepare: () => Promise<void> = async () => undefined,
    applicationName = 'latchkey',
  ) {
    this.pool = createPool(url, timeouts, applicationName);
    this.#timeouts = timeouts;
    this.#calls = new Calls(() =>
      prepare().catch((error) => {
        throw settingsError(error);
      }),
    );
  }

  prepare(): Promise<void> {
    return this.#calls.prepare();
  }

  /**
   * A read. If it decides something, `FENCED` is among its conditions: then it sees every acknowledged write.
   *
   * @throws DomainError `store_unavailable`
   */
  read(text: string, values?: Values): Promise<Row[]> {
    return this.run(() => this.tryRead(text, values));
  }

  /**
   * A write of one statement, with `FENCED` among its conditions. It is not sent again if its response is lost.
   *
   * @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown`
   */
  write(text: string, values?: Values): Promise<Row[]> {
    return this.settle({
      send: (begin) => this.send(text, values, begin),
      readBack: async () => 'unknown',
    });
  }

  /**
   * A write whose outcome is looked for if its response is lost.
   *
   * @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown`
   */
  settle<T>(write: Write<T>): Promise<T> {
    const scope = requestScope();
    let isBegun = false;
    let isOver = false;
    const begin = () => {
      // Once a request is over, nothing is written for it any more.
      isOver ||= isPastDeadline(scope);
      isBegun ||= !isOver;
      return !isOver;
    };
    const late = () => (isBegun && !write.isPart ? outcomeUnknown(write) : pastDeadline());
    const settled = { ...write, send: () => sentOf(write.send(begin)) };
    const settling = { timeout: this.#timeouts.outcome, closing: this.#calls.closing };
    return this.run(
      async () => {
        try {
          return await settle(settled, { ...settling, isDatabaseError, unavailable });
        } catch (error) {
          throw isOver ? late() : error;
        }
      },
      () => {
        isOver = true;
        return late();
      },
    );
  }

  /**
   * Statements of one transaction, each write with `FENCED` among its conditions. They are made again after a conflict.
   *
   * @throws DomainError `store_unavailable` if nothing was changed, otherwise `outcome_unknown`
   */
  transaction<T>(work: (send: Send) => Promise<T>): Promise<T> {
    return this.settle({
      send: (begin) => this.#repeated(() => this.#inTransaction(work, begin)),
      readBack: async () => 'unknown',
    });
  }

  inSequence<T>(steps: () => Promise<T>): Promise<T> {
    return this.#calls.inSequence(steps);
  }

  async close(): Promise<void> {
    await this.#calls.close();
    await this.pool.end();
  }

  /** @throws DomainError */
  run<T>(work: () => Promise<T>, late?: () => DomainError): Promise<T> {
    return this.#calls.run(async () => {
      try {
        return await work();
      } catch (error) {
        throw unavailable(error);
      }
    }, late);
  }

  // Within `run`, and without the deadline of the call: what several calls share ends by itself.

  /** @throws DatabaseError */
  async tryRead(text: string, values?: Values): Promise<Row[]> {
    try {
      return await this.send(text, values);
    } catch (error) {
      // Such as of an idle connection that the server has closed.
      if (!isDatabaseError(error) || error.fate !== 'unknown' || error.isLate) throw error;
      return this.send(text, values);
    }
  }

  /**
   * @param values - may be made only once there is a connection to send them
   * @throws DatabaseError
   */
  send(text: string, values?: Values | (() => Values), begin: Begin = () => true): Promise<Row[]> {
    return this.#repeated(() =>
      this.#withClient((send) => {
        if (!begin()) throw pastDeadline();
        return send(text, typeof values === 'function' ? values() : values);
      }),
    );
  }

  async #repeated<T>(attempt: () => Promise<T>): Promise<T> {
    for (let left = REPETITIONS; ; left--) {
      try {
        return await attempt();
      } catch (error) {
        if (!isConflict(error) || left === 0) throw error;
      }
      await sleep(Math.random() * 10);
    }
  }

  #inTransaction<T>(work: (send: Send) => Promise<T>, begin: Begin): Promise<T> {
    return this.#withClient(async (send) => {
      if (!begin()) throw pastDeadline();
      // Or a process that is stopped would keep its locks.
      const idle = 2 * this.#timeouts.operation;
      await send(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = ${idle}`);
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
      throw new DatabaseError(error, 'unsent');
    });
    let isHeld = true;
    const release = (isBroken: boolean) => {
      if (isHeld) client.release(isBroken);
      isHeld = false;
    };
    try {
      return await work(async (text, values) => {
        const timer = setTimeout(release, this.#timeouts.operation, true);
        try {
          const { rows } = await client.query(text, values as unknown[]);
          if (hasCancelledWait(client)) throw waitCancelled();
          return rows;
        } catch (error) {
          if (isDatabaseError(error)) throw error;
          if (!isHeld) throw tooLate(this.#timeouts.operation);
          const isRefused = isOfServer(error) && (await isAlive(client));
          throw new DatabaseError(error, isRefused ? 'refused' : 'unknown');
        } finally {
          clearTimeout(timer);
        }
      });
    } catch (error) {
      release((isDatabaseError(error) && error.fate === 'unknown') || isOfStandby(error));
      throw error;
    } finally {
      release(false);
    }
  }
}

/** After an error that leaves open whether the commit was made, the server closes the connection. */
async function isAlive(client: PoolClient): Promise<boolean> {
  try {
    await client.query('SELECT 1');
    return true;
  } catch (error) {
    // The transaction has failed, and is not over yet.
    return isOfServer(error) && (error as Error & { code: string }).code === '25P02';
  }
}

async function sentOf<T>(sending: Promise<T>): Promise<Sent<T>> {
  try {
    return { sends: 1, result: await sending };
  } catch (error) {
    if (!isDatabaseError(error)) throw error;
    const { fate } = error;
    return { sends: fate === 'unsent' ? 0 : 1, error, isRefused: fate === 'refused' };
  }
}
