import { wires } from '../http/call.ts';
import type { Call, Mistake, ServerName } from './history.ts';
import type { Random } from './random.ts';

/** What a grant goes through, so that each kind of race has enough grants of its own. */
export type Fate =
  | 'raced'
  | 'mistaken'
  | 'recovered'
  | 'revoked'
  | 'erased'
  | 'disconnected'
  | 'marked'
  | 'left';

/** A code that was issued, as all clients know it. */
export interface KnownGrant {
  name: string;
  grant_id: string;
  /** The account that it is about; of fate `erased` and `disconnected`, no other code is. */
  account_id: string;
  /** Of fate `marked`, the account by its name: all that it has is ended now and then. */
  account?: string | undefined;
  application_id: string;
  code: string;
  /** What the code is bound to, as an application sends it; null if it is bound to nothing. */
  proof: { redirect_uri: string; code_verifier: string } | null;
  /** The resource that it is for; null for none. */
  resource: string | null;
  /** Which of the two applications it was issued to. */
  owner: 0 | 1;
  fate: Fate;
}

/** A secret of a grant, by the id of the call that it came with. */
export interface KnownSecret {
  grant: string;
  id: string;
  secret: string;
}

/** A call to be made. */
export interface Intent {
  operation: 'convert' | 'recover' | 'revoke' | 'erase' | 'disconnect' | 'end_all' | 'authenticate';
  grant: KnownGrant;
  application: 'own' | 'other';
  /** What is not that of the code or the grant. Default: nothing. */
  mistaken?: Mistake;
  /** Of `authenticate`. */
  secret?: KnownSecret;
  server: ServerName;
  wire: Call['wire'];
  /** Milliseconds after the request was sent at which its connection is cut; null for never. */
  cutAfter: number | null;
}

type Step =
  | 'convert'
  | 'mistake'
  | 'authenticate'
  | 'recover'
  | 'revoke'
  | 'erase'
  | 'disconnect'
  | 'end_all'
  | 'trespass';

/** How often which call is made about a grant. */
const weights: Record<Fate, Record<Step, number>> = {
  raced: {
    convert: 8,
    mistake: 0.5,
    authenticate: 10,
    recover: 1,
    revoke: 0.5,
    erase: 0,
    disconnect: 0,
    end_all: 0,
    trespass: 1,
  },
  // Wrong verifiers race with right ones.
  mistaken: {
    convert: 2,
    mistake: 10,
    authenticate: 1,
    recover: 0.5,
    revoke: 0.2,
    erase: 0,
    disconnect: 0,
    end_all: 0,
    trespass: 1,
  },
  // Its first use ends recovery, so there are few.
  recovered: {
    convert: 5,
    mistake: 0.5,
    authenticate: 0.5,
    recover: 8,
    revoke: 0.2,
    erase: 0,
    disconnect: 0,
    end_all: 0,
    trespass: 1,
  },
  revoked: {
    convert: 4,
    mistake: 0.5,
    authenticate: 12,
    recover: 0.2,
    revoke: 1.5,
    erase: 0,
    disconnect: 0,
    end_all: 0,
    trespass: 1,
  },
  // Its code is still raced for when the end comes.
  erased: {
    convert: 5,
    mistake: 0.5,
    authenticate: 10,
    recover: 1,
    revoke: 0.2,
    erase: 1,
    disconnect: 0,
    end_all: 0,
    trespass: 1,
  },
  // About as often, nobody has exchanged its code when the end comes.
  disconnected: {
    convert: 2,
    mistake: 0.5,
    authenticate: 3,
    recover: 1,
    revoke: 0.2,
    erase: 0,
    disconnect: 4,
    end_all: 0,
    trespass: 1,
  },
  // Others of its account are converted meanwhile, and more are issued.
  marked: {
    convert: 5,
    mistake: 0.5,
    authenticate: 10,
    recover: 0.5,
    revoke: 0.2,
    erase: 0,
    disconnect: 0,
    end_all: 1,
    trespass: 1,
  },
  // Its application never exchanges it: it has to be good at the end, whatever others tried.
  left: {
    convert: 0,
    mistake: 4,
    authenticate: 0,
    recover: 1,
    revoke: 1,
    erase: 0,
    disconnect: 0,
    end_all: 0,
    trespass: 6,
  },
};
export const fates: Record<Fate, number> = {
  raced: 5,
  mistaken: 3,
  recovered: 3,
  revoked: 3,
  erased: 3,
  disconnected: 3,
  marked: 4,
  left: 1,
};

// Grants that calls are made about: few, so that they race, and the newest most, so that codes do.
const IN_PLAY = 8;
const NEWEST = 0.4;
const OLD = 0.05;
const CUT = 0.02;

/** Decides what one client process does next, from what it knows and from its random numbers. */
export class Generator {
  readonly #random: Random;
  readonly #grants: KnownGrant[] = [];
  readonly #secrets = new Map<string, KnownSecret[]>();

  constructor(random: Random) {
    this.#random = random;
  }

  learnGrant(grant: KnownGrant): void {
    this.#grants.push(grant);
  }

  learnSecret(secret: KnownSecret): void {
    this.#secrets.set(secret.grant, [...(this.#secrets.get(secret.grant) ?? []), secret]);
  }

  /**
   * The next calls of a worker, one after the other; none while nothing is known.
   *
   * @param home - the server that the worker mostly talks to
   */
  next(home: ServerName): Intent[] {
    if (this.#grants.length === 0) return [];
    const grant = this.#pickGrant();
    const step = this.#random.weighted(weights[grant.fate]);
    const secrets = this.#secrets.get(grant.name) ?? [];
    const newest = secrets.at(-1);
    if (step === 'trespass') {
      const operation = this.#random.pick(['convert', 'convert', 'recover', 'revoke'] as const);
      return [{ ...this.#way(home, operation), operation, grant, application: 'other' }];
    }
    if (step === 'mistake') {
      const mistaken = this.#random.pick(['verifier', 'resource'] as const);
      if (mistaken === 'resource' && newest && this.#random.chance(0.5)) {
        return [{ ...this.#use(grant, newest, home), mistaken }];
      }
      const way = this.#way(home, 'convert');
      return [{ ...way, operation: 'convert', grant, application: 'own', mistaken }];
    }
    if (step === 'authenticate' && newest) {
      return [
        this.#use(grant, this.#random.chance(0.5) ? newest : this.#random.pick(secrets), home),
      ];
    }
    const operation = step === 'authenticate' ? 'convert' : step;
    const way = this.#way(home, operation);
    const change: Intent = { ...way, operation, grant, application: 'own' };
    if (!newest || operation === 'convert') return [change];
    // It is right after a change, and on the other server, that one which has not noticed would
    // show; and the more so where it has just seen the secret work.
    const elsewhere = home === 'A' ? 'B' : 'A';
    const use = () => this.#use(grant, newest, elsewhere);
    return ['revoke', 'erase', 'disconnect', 'end_all'].includes(operation)
      ? [use(), use(), change, use()]
      : [change, use()];
  }

  #use(grant: KnownGrant, secret: KnownSecret, server: ServerName): Intent {
    const way = this.#way(server, 'authenticate');
    return { ...way, operation: 'authenticate', grant, application: 'own', secret };
  }

  #pickGrant(): KnownGrant {
    const grants = this.#grants;
    if (this.#random.chance(NEWEST)) return grants.at(-1) as KnownGrant;
    return this.#random.pick(this.#random.chance(OLD) ? grants : grants.slice(-IN_PLAY));
  }

  #way(
    server: ServerName,
    operation: Intent['operation'],
  ): Pick<Intent, 'server' | 'wire' | 'cutAfter'> {
    const cutAfter = this.#random.chance(CUT) ? this.#random.integer(4) : null;
    const ways = operation === 'convert' ? ([...wires, 'form'] as const) : wires;
    return { server, wire: this.#random.pick(ways), cutAfter };
  }
}
