import { randomBytes, randomUUID } from 'node:crypto';
import { textOfHash } from '../../../packages/domain/src/credentials/credentials.ts';
import { credentialHint } from '../../../packages/schema/src/index.ts';
import { firstGenerations } from '../../../packages/store/src/generations.ts';
import type { AnyKind, RecordOf } from '../../../packages/store/src/kind.ts';
import {
  accounts as accountKind,
  applications as applicationKind,
  grants as grantKind,
} from '../../../packages/store/src/kinds.ts';
import type { Grant } from '../contender.ts';
import { mint, uuidV7 } from '../credentials.ts';
import { USERNAME } from '../wires/rest.ts';

type Account = RecordOf<typeof accountKind>;
type Application = RecordOf<typeof applicationKind>;
type StoredGrant = RecordOf<typeof grantKind>;
type Initiator = NonNullable<StoredGrant['issued_by']>;

/** How many grants a part of a database has. It is the same at each size, so that only the rest grows. */
export interface Parts {
  /** Of the application that is measured, each with a known secret. */
  known: number;
  /** Of one account, with all applications. */
  ofLargeAccount: number;
  perAccount: number;
  /** Accounts that are there to be erased. */
  erasures: number;
  perSmallApplication: number;
  /** Small applications, which are there to be deleted. */
  deletions: number;
}

/** What a database holds before it is measured. */
export interface Records {
  applications: Application[];
  accounts: Account[];
  /** From the oldest to the newest. To be read once. */
  grants: Iterable<StoredGrant>;
  /** The application that is measured. */
  application: { id: string; secret: string };
  /** Complete once all grants were read. */
  known: Grant[];
  /** Their ids. */
  plainAccounts: string[];
  largeAccount: string;
  toErase: string[];
  toDelete: string[];
  /** Has about a twentieth of all grants. */
  largeApplication: string;
}

/** Of a grant, and whether its secret is to be known. */
type Parties = [Application, Account, isKnown?: true];

const APPLICATIONS = 20;
const YEAR = 365 * 86_400_000;
/** Of the grants of an account that nothing else is measured with, one in so many is revoked. */
const REVOKED = 5;
/** A prime, so that a step of it comes to each place once. */
const STEP = 7_919;

/** The fields of a kind as a record has them if nothing sets them. */
const blank = <K extends AnyKind>({ fields }: K) =>
  Object.fromEntries(
    Object.entries<{ initial?: unknown }>(fields).map(([name, { initial = null }]) => [
      name,
      initial,
    ]),
  ) as RecordOf<K>;

/** A year of grants, all used. Parts of them are set apart, and spread over the whole year like the rest. */
export function recordsOf(count: number, parts: Parts): Records {
  const end = Date.now() - 3_600_000;
  const start = end - YEAR;

  const blankApplication = blank(applicationKind);
  const secrets: string[] = [];
  const newApplication = (_: unknown, index: number): Application => {
    const id = uuidV7(start);
    const { credential, hash } = mint('applicationSecret', id);
    secrets.push(credential);
    const times = { created_at: start, expires_at: null, last_used_at: null };
    const secret = {
      id: randomUUID(),
      hash: textOfHash(hash),
      hint: credentialHint(credential),
      ...times,
    };
    return {
      ...blankApplication,
      ...{ id, name: `Application ${index}` as Application['name'], created_at: start },
      ...{ secrets: [secret], redirect_uris: [], generations: firstGenerations },
      // Only a disabled application can be deleted.
      disabled: index >= APPLICATIONS,
      ...{ public: false, resource_server: false, challenge_required: false },
    };
  };
  const applications = Array.from({ length: APPLICATIONS + parts.deletions }, newApplication);
  const [main, others] = [applications.slice(0, APPLICATIONS), applications.slice(APPLICATIONS)];
  const [measured, ...rest] = main as [Application, Application, ...Application[]];

  const blankAccount = blank(accountKind);
  const newAccount = (_: unknown, index: number): Account => {
    const id = randomUUID();
    const flags = { verified: index % 3 === 0, supporter: index % 10 === 0 };
    const names = { username: USERNAME, display_name: `Ada Lovelace ${index}`, twitter: null };
    return {
      ...blankAccount,
      ...{ id, place: uuidV7(start + index), username: USERNAME, revision: 1 },
      account: { id, ...names, ...flags },
    };
  };
  const plain = Math.ceil((count - parts.ofLargeAccount) / parts.perAccount) - parts.erasures;
  const accounts = Array.from({ length: plain + parts.erasures + 1 }, newAccount);
  const plainAccounts = accounts.slice(0, plain);
  const toErase = accounts.slice(plain, -1);
  const largeAccount = accounts.at(-1) as Account;

  const at = <T>(of: readonly T[], index: number) => of[index % of.length] as T;
  const { known: ofMeasured, ofLargeAccount, perAccount, perSmallApplication } = parts;
  // An account has a turn after each of the others, each time with the next application.
  const partiesOfRest = (place: number, of: readonly Account[]): Parties => [
    at(rest, (place % of.length) + Math.floor(place / of.length)),
    at(of, place),
  ];
  // Each part is a range of places, and the rest of the places is behind them.
  const ranges: [size: number, (place: number) => Parties][] = [
    [ofLargeAccount, (place) => [at(main, place), largeAccount]],
    [ofMeasured, (place) => [measured, at(plainAccounts, place), true]],
    [others.length * perSmallApplication, (place) => [at(others, place), at(plainAccounts, place)]],
    [toErase.length * perAccount, (place) => partiesOfRest(place, toErase)],
  ];
  const firstOfRest = ranges.reduce((sum, [size]) => sum + size, 0);
  if (count < firstOfRest || count % STEP === 0) {
    throw new RangeError(`There is no database of ${count} grants with these parts.`);
  }
  function partiesAt(place: number): Parties {
    let end = 0;
    for (const [size, parties] of ranges) {
      end += size;
      if (place < end) return parties(place);
    }
    return partiesOfRest(place, plainAccounts);
  }

  const known: Grant[] = [];
  const blankGrant = blank(grantKind);

  function newGrant(index: number): StoredGrant {
    const issued_at = start + Math.floor((index / count) * YEAR);
    const id = uuidV7(issued_at);
    const place = (index * STEP) % count;
    const [application, { account, revision, id: account_id }, isKnown] = partiesAt(place);
    const initiator = (by: Initiator['by'], secret_id: string | null = null): Initiator => ({
      ...{ request_id: uuidV7(issued_at), by, secret_id },
    });
    const ofApplication = initiator('application', application.secrets[0]?.id);
    const turn = Math.floor(place / plainAccounts.length);
    const isRevoked = place >= firstOfRest && turn % REVOKED === 0;
    const secret = isKnown && mint('grantSecret', id);
    if (secret) known.push({ id, secret: secret.credential });
    return {
      ...blankGrant,
      ...{ id, application_id: application.id, account_id, account },
      ...{ account_revision: revision, scope: 'profile.read', code_hash: randomBytes(32) },
      ...{ issued_by: initiator('operator'), redeemed_by: ofApplication },
      ...{ created_at: issued_at + 2_000, first_used_by: initiator('grant') },
      ...{ first_used_at: issued_at + 3_000, last_used_at: end },
      ...(isRevoked
        ? { revoked_at: issued_at + 60_000, revoked_by: ofApplication }
        : { secret_hash: secret ? secret.hash : randomBytes(32) }),
    };
  }
  function* grants() {
    for (let index = 0; index < count; index++) yield newGrant(index);
  }

  const idOf = ({ id }: { id: string }) => id;
  return {
    ...{ applications, accounts, grants: grants(), known },
    application: { id: measured.id, secret: secrets[0] as string },
    ...{ plainAccounts: plainAccounts.map(idOf), largeAccount: largeAccount.id },
    ...{ toErase: toErase.map(idOf), toDelete: others.map(idOf) },
    largeApplication: (rest[0] as Application).id,
  };
}
