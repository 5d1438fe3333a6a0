import type { OperationName } from '@latchkey/schema';
import { invoke, type Json } from '../http/call.ts';
import { operator } from '../http/running-server.ts';

/** The service, wherever it listens now: a restart may move it. */
export interface Place {
  url: string;
}

export interface Customer {
  application_id: string;
  account_id: string;
  /** The value of the application's Authorization header. */
  bearer: string;
}

interface Told {
  /** The `error_code`; `ok`; or `lost`, where no answer came. */
  word: string;
  body: Json;
}

/** Nobody can tell from these whether the call was made. */
const inDoubt = new Set(['lost', 'outcome_unknown']);

/**
 * One user's link, from the code to the revocation, as an application lives it that does what the
 * answers say. It remembers what it was told, and every answer that contradicts another is a lie.
 */
export class Journey {
  readonly #place: Place;
  readonly #customer: Customer;
  readonly #lies: string[];
  readonly grant_id: string;
  readonly #code: string;
  #mayBeExchanged = false;
  #isExchanged = false;
  #secret: string | null = null;
  /** Whether the secret may have been replaced by one that was never seen. */
  #secretInDoubt = false;
  #mayBeUsed = false;
  #revocationSent = false;
  #isRevoked = false;

  private constructor(place: Place, customer: Customer, issued: Json, lies: string[]) {
    this.#place = place;
    this.#customer = customer;
    this.#lies = lies;
    this.grant_id = issued.grant_id;
    this.#code = issued.code;
  }

  /**
   * Begins one; null where there is no code to be had just now.
   *
   * @param lies - where what can't be true is noted
   */
  static async begin(place: Place, customer: Customer, lies: string[]): Promise<Journey | null> {
    const { application_id, account_id } = customer;
    const input = { application_id, account_id, scope: 'a' };
    const { word, body } = await ask(place, 'admin.codes.issue', input, operator);
    return word === 'ok' ? new Journey(place, customer, body, lies) : null;
  }

  get isRevoked(): boolean {
    return this.#isRevoked;
  }

  get isLinked(): boolean {
    return this.#secret !== null && !this.#secretInDoubt;
  }

  /** One try to get a secret, with what the last answers said to do. */
  async link(): Promise<void> {
    if (this.#mayBeExchanged && (await this.#recover()) !== 'grant_not_found') return;
    if (this.isLinked) return;
    // A double click: both at once.
    const told = await Promise.all([this.#convert(), this.#convert()]);
    // What came of each is judged in the light of the other.
    told.sort((one, other) => rank(one) - rank(other));
    for (const { word, body } of told) this.#hearOfConvert(word, body);
  }

  #hearOfConvert(word: string, body: Json): void {
    if (word === 'ok') {
      if (this.#isExchanged) this.#lie('the code was exchanged twice');
      this.#mayBeExchanged = true;
      this.#isExchanged = true;
      this.#secret = body.grant_secret;
    } else if (inDoubt.has(word)) {
      this.#mayBeExchanged = true;
    } else if (word === 'code_already_used') {
      if (!this.#mayBeExchanged) this.#lie('the code is used, and every answer said it is not');
      this.#isExchanged = true;
    } else if (word !== 'store_unavailable') {
      this.#lie(`the exchange answered ${word}`);
    }
  }

  async #recover(): Promise<string> {
    const { word, body } = await this.#asApplication('grants.recover');
    if (word === 'ok') {
      this.#isExchanged = true;
      this.#secret = body.grant_secret;
      this.#secretInDoubt = false;
    } else if (inDoubt.has(word)) {
      this.#secretInDoubt = true;
    } else if (word === 'grant_not_found' ? this.#isExchanged : word !== 'store_unavailable') {
      const excused = word === 'grant_not_recoverable' && this.#mayBeUsed;
      if (!excused) this.#lie(`the recovery answered ${word}`);
    }
    return word;
  }

  /** Recovers it although the secret is known. The old one is dead once that is acknowledged. */
  async renew(): Promise<void> {
    const old = this.#secret;
    if ((await this.#recover()) !== 'ok') return;
    const { word } = await ask(this.#place, 'account.grant', {}, `Bearer ${old}`);
    if (word === 'ok') this.#lie('a secret works that was replaced');
  }

  /** Makes a request with the grant. */
  async use(): Promise<void> {
    const { word } = await ask(this.#place, 'account.grant', {}, `Bearer ${this.#secret}`);
    if (word === 'ok') {
      this.#mayBeUsed = true;
      if (this.#isRevoked) this.#lie('the grant works, and its revocation was acknowledged');
    } else if (inDoubt.has(word)) {
      this.#mayBeUsed = true;
    } else if (word === 'credentials_invalid') {
      if (!this.#revocationSent) this.#lie('the secret that was answered does not work');
    } else if (word !== 'store_unavailable') {
      this.#lie(`a request with the grant answered ${word}`);
    }
  }

  async revoke(): Promise<void> {
    this.#revocationSent = true;
    const { word } = await this.#asApplication('grants.revoke');
    if (word === 'ok') this.#isRevoked = true;
    else if (!inDoubt.has(word) && word !== 'store_unavailable') {
      this.#lie(`the revocation answered ${word}`);
    }
  }

  /** With the faults over: brings it to an end, which has to be the one that was promised. */
  async finish(): Promise<void> {
    for (let tries = 0; !this.isLinked && tries < 5 && !this.#revocationSent; tries++) {
      await this.link();
    }
    if (this.#revocationSent) {
      await this.revoke();
      if (!this.#isRevoked) this.#lie('it can not be revoked');
      await this.use();
    } else {
      if (!this.isLinked) this.#lie('there is no way to its grant');
      await this.use();
      if (!this.#mayBeUsed) this.#lie('its grant can not be used');
    }
  }

  #convert(): Promise<Told> {
    return this.#asApplication('grants.convert', { code: this.#code });
  }

  #asApplication(name: OperationName, input: Json = { grant_id: this.grant_id }): Promise<Told> {
    return ask(this.#place, name, input, this.#customer.bearer);
  }

  #lie(what: string): void {
    this.#lies.push(`${this.grant_id}: ${what}`);
  }
}

/** Success first, then what leaves it open, then what refers to either. */
function rank({ word }: Told): number {
  return word === 'ok' ? 0 : inDoubt.has(word) ? 1 : 2;
}

async function ask(
  place: Place,
  name: OperationName,
  input: Json,
  authorization: string,
): Promise<Told> {
  try {
    const { status, body } = await invoke(place, 'REST', name, input, authorization);
    return { word: status === 200 ? 'ok' : body.error_code, body };
  } catch {
    return { word: 'lost', body: null };
  }
}
