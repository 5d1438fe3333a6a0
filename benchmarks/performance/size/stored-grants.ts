import { randomUUID } from 'node:crypto';
import { mintCredential, newId } from '../../../apps/server/src/credentials/credentials.ts';
import { randomBytes } from '../../../apps/server/src/credentials/random.ts';
import type { Origin } from '../../../apps/server/src/origin.ts';
import type {
  AccountRecord,
  ApplicationRecord,
  CredentialHash,
  GrantRecord,
} from '../../../apps/server/src/store/records.ts';
import { credentialHint } from '../../../packages/schema/src/index.ts';
import type { Grant } from '../contender.ts';
import { USERNAME } from '../wires/rest.ts';

/** A grant with all that is at rest of one. */
export interface StoredGrant extends GrantRecord {
  code_hash: CredentialHash;
  /** Null once it is revoked. */
  secret_hash: CredentialHash | null;
  first_used_at: number;
  issued_by: Origin;
  exchanged_by: Origin;
  first_used_by: Origin;
  /** Null while it is not revoked. */
  revoked_by: Origin | null;
}

/** A grant whose secret is known, so that it can be asked for. */
export interface KnownGrant extends Grant {
  stored: StoredGrant;
}

/** What a database holds before it is measured. */
export interface Stock {
  /** The first is the one that is measured. */
  applications: ApplicationRecord[];
  /** The secret of the first. */
  applicationSecret: string;
  accounts: AccountRecord[];
  grants: Iterable<StoredGrant>;
  /** Filled as the grants are taken: active ones of the first application, from all over its time. */
  known: KnownGrant[];
}

const APPLICATIONS = 20;
/** So many each, whatever the size: a page of the operator's lists is full either way. */
const GRANTS_OF_AN_ACCOUNT = 50;
const MOST_KNOWN = 20_000;
const YEAR = 365 * 86_400_000;
const ONE_IN_FIVE = 5;

/**
 * Grants as a year leaves them: of several applications and many accounts, all of them used, one in
 * five revoked.
 */
export function stock(count: number): Stock {
  const end = Date.now() - 3_600_000;
  const start = end - YEAR;
  let applicationSecret = '';
  const applications = Array.from({ length: APPLICATIONS }, (_, index): ApplicationRecord => {
    const id = newId(start);
    const { credential, hash } = mintCredential('applicationSecret', id);
    if (index === 0) applicationSecret = credential;
    const times = { created_at: start, expires_at: null, last_used_at: null };
    const secret = { id: randomUUID(), hash, hint: credentialHint(credential), ...times };
    const name = `Application ${index}`;
    return { id, name, disabled: false, created_at: start, secrets: [secret] };
  });
  const accounts = Array.from(
    { length: Math.ceil(count / GRANTS_OF_AN_ACCOUNT) },
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
  const knownEvery = Math.max(2, Math.ceil(count / MOST_KNOWN));

  function grant(index: number): StoredGrant {
    const issued_at = start + Math.floor((index / count) * YEAR);
    const grant_id = newId(issued_at);
    const isKnown = index % knownEvery === 0;
    const application = applications[isKnown ? 0 : index % APPLICATIONS] as ApplicationRecord;
    const application_id = application.id;
    const revoked_at = !isKnown && index % ONE_IN_FIVE === 1 ? issued_at + 60_000 : null;
    const secret = isKnown ? mintCredential('grantSecret', grant_id) : null;
    const by = (by: Origin['by']): Origin => ({
      request_id: newId(issued_at),
      by,
      secret_id: by === 'application' ? (application.secrets[0]?.id ?? null) : null,
    });
    const stored: StoredGrant = {
      ...{ grant_id, application_id, scope: 'profile.read' },
      // With a prime as its step each account is met as often, and not two grants in a row.
      account: accounts[(index * 7_919) % accounts.length] as AccountRecord,
      created_at: issued_at + 2_000,
      revoked_at,
      code_hash: randomBytes(32),
      secret_hash: revoked_at === null ? (secret?.hash ?? randomBytes(32)) : null,
      first_used_at: issued_at + 3_000,
      issued_by: by('operator'),
      exchanged_by: by('application'),
      first_used_by: by('grant'),
      revoked_by: revoked_at === null ? null : by('application'),
    };
    if (secret) known.push({ id: grant_id, secret: secret.credential, stored });
    return stored;
  }
  function* grants(): Generator<StoredGrant> {
    for (let index = 0; index < count; index++) yield grant(index);
  }
  return { applications, applicationSecret, accounts, grants: grants(), known };
}
