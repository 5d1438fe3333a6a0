import type { Random } from '@latchkey/test-kit/seeded-random';
import { expect, onTestFinished } from 'vitest';
import { succeed } from '../http/call.ts';
import { operator } from '../http/running-server.ts';
import { type Customer, Journey, type Place } from './journey.ts';

/** Many links at once, on a service that may fail at any moment. */
export class Load {
  readonly #place: Place;
  readonly #customer: Customer;
  readonly #random: Random;
  readonly #lies: string[] = [];
  #journeys: Journey[] = [];
  #running: Promise<unknown> = Promise.resolve();
  #goesOn = false;

  constructor(place: Place, customer: Customer, random: Random) {
    this.#place = place;
    this.#customer = customer;
    this.#random = random;
  }

  /** Links that were acknowledged since the last {@link verify}. */
  get linked(): number {
    return this.#journeys.filter(({ isLinked }) => isLinked).length;
  }

  /** Goes on until it is stopped, or the test has ended. */
  start(workers: number): void {
    this.#goesOn = true;
    onTestFinished(() => this.stop());
    this.#running = Promise.all(Array.from({ length: workers }, () => this.#work()));
  }

  /** Lets what is under way come to its end. */
  async stop(): Promise<void> {
    this.#goesOn = false;
    await this.#running;
  }

  async #work(): Promise<void> {
    while (this.#goesOn) {
      const journey = await Journey.begin(this.#place, this.#customer, this.#lies);
      if (!journey) continue;
      this.#journeys.push(journey);
      for (let tries = 0; tries < 3 && !journey.isLinked && this.#goesOn; tries++) {
        await journey.link();
      }
      if (journey.isLinked && this.#random() < 0.3) await journey.renew();
      if (journey.isLinked && this.#random() < 0.5) await journey.use();
      if (journey.isLinked && this.#random() < 0.5) await journey.revoke();
    }
  }

  /** With the faults over: holds the service to everything that it acknowledged. */
  async verify(): Promise<void> {
    const journeys = this.#journeys;
    this.#journeys = [];
    for (let next = 0; next < journeys.length; next += 20) {
      await Promise.all(journeys.slice(next, next + 20).map((journey) => journey.finish()));
    }
    expect(this.#lies).toEqual([]);
    const listed = await this.#listed();
    for (const { grant_id, isRevoked } of journeys) {
      expect([grant_id, listed.get(grant_id)]).toEqual([grant_id, [isRevoked]]);
    }
  }

  /** Whether it is revoked, of each grant; a grant that is there twice has two of these. */
  async #listed(): Promise<Map<string, boolean[]>> {
    const { account_id } = this.#customer;
    const found = new Map<string, boolean[]>();
    let cursor: string | null | undefined;
    do {
      const page = { account_id, limit: 100, ...(cursor && { cursor }) };
      const { data, next_cursor } = await succeed(this.#place, 'admin.grants.list', page, operator);
      for (const { grant_id, revoked } of data) {
        found.set(grant_id, [...(found.get(grant_id) ?? []), revoked]);
      }
      cursor = next_cursor;
    } while (cursor);
    return found;
  }
}
