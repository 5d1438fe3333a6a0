import { randomUUID } from 'node:crypto';
import type { Account } from '@latchkey/schema';

/**
 * What a test says of an account: the members of `Account`, each of which may be left out. The
 * `username` is 1 to 200 characters.
 */
export type TestAccount = Partial<Omit<Account, 'object'>>;

const ADA = { username: 'ada', display_name: 'Ada Lovelace', verified: true };

type NamedAccount = TestAccount & Pick<Account, 'id' | 'username'>;

/** The accounts of a test. One is known by its id, or else by its username. */
export class Accounts {
  readonly #accounts = new Map<string, Account>();

  /**
   * Fills in what is not given: as it was, where the account is known. What is missing then is the
   * service's to fill in.
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

  /** Remembers an account that the service has. */
  keep(account: Account): void {
    this.#accounts.set(account.id, account);
  }
}
