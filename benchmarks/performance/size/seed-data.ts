import { randomBytes, randomUUID } from 'node:crypto';
import type {
  AccountRecord,
  ApplicationRecord,
  CredentialHash,
  GrantHistory,
  GrantRecord,
} from '../../../apps/server/src/store/records.ts';
import { credentialHint } from '../../../packages/schema/src/index.ts';
import type { Grant } from '../contender.ts';
import { mint, uuidV7 } from '../credentials.ts';
import { USERNAME } from '../wires/rest.ts';

type Initiator = NonNullable<GrantHistory['issued_by']>;

/** A grant with everything that a store keeps of it. */
export interface SeedGrant extends GrantRecord {
  code_hash: CredentialHash;
  /** Null if it is revoked. */
  secret_hash: CredentialHash | null;
  first_used_at: number;
  issued_by: Initiator;
  redeemed_by: Initiator;
  first_used_by: Initiator;
  /** Null if it is not revoked. */
  revoked_by: Initiator | null;
}

/** Most codes come from `/admin/codes`, which binds them to nothing. */
export const unbound = {
  ...{ redirect_uri: null, redirect_uri_given: false },
  ...{ code_challenge: null, link_id: null },
};

/** A stored grant whose secret is known, so that requests can use it. */
export interface KnownGrant extends Grant {
  stored: SeedGrant;
}

/** What a database holds before it is measured. */
export interface SeedData {
  /** The first one is measured. */
  applications: ApplicationRecord[];
  /** The secret of the first application. */
  applicationSecret: string;
  accounts: AccountRecord[];
  grants: Iterable<SeedGrant>;
  /** Active grants of the first application, from the whole year. Filled while `grants` is read. */
  known: KnownGrant[];
}

/** Writes grants into a database directly, without the service. */
export interface Seeder {
  insert(grants: readonly SeedGrant[]): Promise<void>;
  /** Waits until every member of a replica set has what was inserted. */
  settle(): Promise<void>;
  /** Puts grants back into the state in which they were inserted. */
  restore(grants: readonly SeedGrant[]): Promise<void>;
  /** Deletes all grants whose id is greater than this one, so all that are newer. */
  deleteAfter(grant_id: string): Promise<void>;
  close(): Promise<void>;
}

const APPLICATIONS = 20;
/** The same at each size, so that a page of the operator's list is always full. */
const GRANTS_PER_ACCOUNT = 50;
const MAX_KNOWN = 20_000;
const YEAR = 365 * 86_400_000;
const ONE_IN_FIVE = 5;

/** A year of grants of several applications and many accounts: all used, one in five revoked. */
export function seedData(count: number): SeedData {
  const end = Date.now() - 3_600_000;
  const start = end - YEAR;
  let applicationSecret = '';
  const applications = Array.from({ length: APPLICATIONS }, (_, index): ApplicationRecord => {
    const id = uuidV7(start);
    const { credential, hash } = mint('applicationSecret', id);
    if (index === 0) applicationSecret = credential;
    const times = { created_at: start, expires_at: null, last_used_at: null };
    const secret = { id: randomUUID(), hash, hint: credentialHint(credential), ...times };
    const name = `Application ${index}`;
    return {
      ...{ id, name, disabled: false, created_at: start, secrets: [secret] },
      ...{ redirect_uris: [], scopes: null, logo_uri: null, homepage_uri: null },
      ...{ public: false, resource_server: false },
    };
  });
  const accounts = Array.from(
    { length: Math.ceil(count / GRANTS_PER_ACCOUNT) },
    (_, index): AccountRecord => ({
      id: randomUUID(),
      username: USERNAME,
      display_name: `Ada Lovelace ${index}`,
      twitter: index % 2 === 0 ? `ada_${index}` : null,
      verified: index % 3 === 0,
      supporter: index % 10 === 0,
    }),
  );
  const known: KnownGrant[] = [];
  const knownEvery = Math.max(2, Math.ceil(count / MAX_KNOWN));

  function grant(index: number): SeedGrant {
    const issued_at = start + Math.floor((index / count) * YEAR);
    const grant_id = uuidV7(issued_at);
    const isKnown = index % knownEvery === 0;
    const application = applications[isKnown ? 0 : index % APPLICATIONS] as ApplicationRecord;
    const revoked_at = !isKnown && index % ONE_IN_FIVE === 1 ? issued_at + 60_000 : null;
    const secret = isKnown ? mint('grantSecret', grant_id) : null;
    const initiatorOf = (by: Initiator['by']): Initiator => ({
      request_id: uuidV7(issued_at),
      by,
      secret_id: by === 'application' ? (application.secrets[0]?.id ?? null) : null,
    });
    const stored: SeedGrant = {
      grant_id,
      application_id: application.id,
      scope: 'profile.read',
      // A prime step: each account gets the same number of grants, and never two in a row.
      account: accounts[(index * 7_919) % accounts.length] as AccountRecord,
      created_at: issued_at + 2_000,
      revoked_at,
      code_hash: randomBytes(32),
      secret_hash: revoked_at === null ? (secret?.hash ?? randomBytes(32)) : null,
      first_used_at: issued_at + 3_000,
      issued_by: initiatorOf('operator'),
      redeemed_by: initiatorOf('application'),
      first_used_by: initiatorOf('grant'),
      revoked_by: revoked_at === null ? null : initiatorOf('application'),
    };
    if (secret) known.push({ id: grant_id, secret: secret.credential, stored });
    return stored;
  }
  function* grants(): Generator<SeedGrant> {
    for (let index = 0; index < count; index++) yield grant(index);
  }
  return { applications, applicationSecret, accounts, grants: grants(), known };
}
