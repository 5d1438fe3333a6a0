import { randomUUID } from 'node:crypto';
import type { AccountEntry } from '@latchkey/schema';

/** An account as a test describes it. Every member may be left out. `username` has 1 to 200 characters. */
export type TestAccount = Partial<Omit<AccountEntry, 'object'>>;

const ADA = { username: 'ada', display_name: 'Ada Lovelace', verified: true };

type NamedAccount = TestAccount & Pick<AccountEntry, 'id' | 'username'>;

/** The accounts of a test server. An account is found by its id, or without one by its username. */
export class Accounts {
  readonly #accounts = new Map<string, NamedAccount>();

  /**
   * Fills in the members that are not given: with their previous values if the account is known,
   * otherwise with Ada's. The service fills in the rest.
   */
  complete(given: TestAccount = {}): NamedAccount {
    const { username = ADA.username } = given;
    const known =
      given.id === undefined
        ? [...this.#accounts.values()].find((account) => account.username === username)
        : this.#accounts.get(given.id.toLowerCase());
    const fresh = username === ADA.username ? ADA : { username };
    return { id: randomUUID(), ...fresh, ...known, ...given };
  }

  /** Remembers an account that the service has stored. */
  keep({ object: _, ...account }: AccountEntry): void {
    this.#accounts.set(account.id, account);
  }
}
