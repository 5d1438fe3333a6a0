import type { RecordOf } from '@latchkey/store/kind';
import { accounts, applications, grants as kind } from '@latchkey/store/kinds';
import { storedAccount } from '@latchkey/store/operations/accounts';
import { storedApplication } from '@latchkey/store/operations/applications';
import type { AccountRecord } from '@latchkey/store/records';
import type { Transfer } from '@latchkey/store/transfer';
import { aBinding, aHash, anAccount, anApplication, anId, anInitiator } from './records.ts';

export type StoredGrant = RecordOf<typeof kind>;

const PAGE = 1_000;

/**
 * Fills a database with the grants of one application and one account, and closes it. Each fourth is
 * revoked.
 *
 * @param count - a multiple of 4, and of 1,000 if it is more than that
 */
export async function fillWithGrants(
  target: Pick<Transfer, 'replace' | 'write' | 'close'>,
  count: number,
) {
  const mark = { id: anId(), is: 'used' } as const;
  await target.replace(null, mark);
  const [application, account] = [anApplication(), anAccount()];
  await target.write(applications, { records: [{ ...storedApplication(application) }] }, mark);
  const stored = storedAccount({ place: anId(), account });
  await target.write(accounts, { records: [{ ...stored }] }, mark);
  const created_at = Date.now();
  for (let done = 0; done < count; done += PAGE) {
    const grants = Array.from({ length: Math.min(PAGE, count) }, (_, index) =>
      aStoredGrant(
        { application_id: application.id, account },
        index % 4 === 0 ? created_at : null,
      ),
    );
    await target.write(kind, { records: grants }, mark);
  }
  await target.close();
  return { application, account };
}

function aStoredGrant(
  { application_id, account }: { application_id: string; account: AccountRecord },
  revoked_at: number | null,
  members: Partial<StoredGrant> = {},
): StoredGrant {
  return {
    id: anId(),
    application_id,
    account_id: account.id,
    ...{ scope: 'profile.read email', account, choice: null, code_hash: aHash() },
    ...{ account_revision: 0, generation: 0, application_revocations: 0, code_expires_at: null },
    ...aBinding(),
    created_at: revoked_at ?? Date.now(),
    secret_hash: revoked_at === null ? aHash() : null,
    first_used_at: null,
    last_used_at: null,
    revoked_reason: null,
    revoked_at,
    recoveries: 0,
    recovered_at: null,
    issued_by: anInitiator({ by: 'operator', secret_id: null }),
    redeemed_by: anInitiator(),
    recovered_by: null,
    first_used_by: null,
    revoked_by: revoked_at === null ? null : anInitiator(),
    ...members,
  };
}

/** What REVOKED_GRANT_DAYS leaves of a grant. */
const reduced: Partial<StoredGrant> = {
  ...{ account_id: null, scope: null, account: null, choice: null, code_hash: null },
  ...{ redirect_uri: null, redirect_uri_given: false, code_challenge: null, link_id: null },
  ...{ issued_by: null, redeemed_by: null, revoked_by: null },
};

export interface Past {
  application_id: string;
  account: AccountRecord;
  /** The grants of the application right before it are reduced, and no list has them. */
  before: string;
}

/**
 * The grants of a service that runs for long. The account has only revoked ones, so whatever is
 * asked about it costs the same with any number of them.
 *
 * @param counts - a quarter of all or more are reduced; a multiple of 1,000 are of the account
 */
export async function aPast(
  { application_id, account }: Omit<Past, 'before'>,
  counts: { grants: number; ofAccount: number },
  write: (grants: StoredGrant[]) => Promise<unknown>,
): Promise<Past> {
  async function writeAll(count: number, grantAt: (index: number) => StoredGrant): Promise<void> {
    for (let done = 0; done < count; done += PAGE) {
      await write(Array.from({ length: PAGE }, (_, index) => grantAt(index)));
    }
  }
  const now = Date.now();
  const others = Array.from({ length: 100 }, () => anAccount());
  const ofOthers = { application_id, account: anAccount() };
  await writeAll(counts.grants / 4, () => aStoredGrant(ofOthers, now, reduced));
  const before = anId();
  await writeAll(counts.ofAccount, () => aStoredGrant({ application_id, account }, now));
  await writeAll(counts.grants * 0.75 - counts.ofAccount, (index) => {
    const account = others[index % others.length] ?? ofOthers.account;
    return aStoredGrant({ application_id: anId(), account }, index % 2 === 0 ? now : null);
  });
  return { application_id, account, before };
}

/** The same in an empty database, which it closes. */
export async function pastIn(
  target: Pick<Transfer, 'replace' | 'write' | 'close'>,
  counts: { grants: number; ofAccount: number },
): Promise<Past> {
  const mark = { id: anId(), is: 'used' } as const;
  await target.replace(null, mark);
  const past = await aPast(
    { application_id: anId(), account: anAccount({ username: anId() }) },
    counts,
    (records) => target.write(kind, { records }, mark),
  );
  await target.close();
  return past;
}
