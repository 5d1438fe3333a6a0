import { isDeepStrictEqual } from 'node:util';
import { ERASED, type ListedAccount } from './records.ts';
import { isAhead, type RecordCounts, type StoredGrant, type Transfer } from './transfer.ts';

export interface CopyResult extends RecordCounts {
  /** Grants that were read back from the target and compared. */
  compared: number;
}

// At about 1 KB a record. Larger pages are no faster, and one write blocks others for longer.
const PAGE = 1_000;

/**
 * Copies all scopes, applications, accounts and grants, page by page, and verifies the result. It may be
 * repeated at any time: after an interruption it completes the copy, and later it brings what is new.
 *
 * @param onProgress - called after each page of grants
 * @throws Error if the target has other data, or differs from what was read
 */
export async function copyDatabase(
  source: Transfer,
  target: Transfer,
  onProgress: (done: number, total: number) => void,
): Promise<CopyResult> {
  const completed = await prepareTarget(source, target);
  const { grants: total } = await source.count();
  const result: CopyResult = { scopes: 0, applications: 0, accounts: 0, grants: 0, compared: 0 };

  const scopes = await source.exportScopes();
  await target.importScopes(scopes, completed);
  result.scopes = scopes.length;
  for await (const records of pages((page) => source.exportApplications(page), idOf)) {
    await target.importApplications(records, completed);
    result.applications += records.length;
  }
  // Before their grants, which are left out without them.
  for await (const records of pages((page) => source.exportAccounts(page), accountIdOf)) {
    await target.importAccounts(records, completed);
    result.accounts += records.length;
  }
  for await (const found of pages((page) => source.exportGrants(page), grantIdOf)) {
    const records = await withOwners(found, target);
    if (records.length === 0) continue;
    await target.importGrants(records);
    result.grants += records.length;
    await compare(records, target);
    result.compared += 1;
    onProgress(result.grants, Math.max(total, result.grants));
  }
  await verifyCounts(result, target, !completed);
  await target.noteCopy({ source: source.name, completed: true });
  return result;
}

/**
 * @returns whether an earlier copy was completed
 * @throws Error if the target is not empty and no copy of this source
 */
async function prepareTarget(source: Transfer, target: Transfer): Promise<boolean> {
  if (source.name === target.name) {
    throw new Error(`--from and --to are the same database, ${source.name}.`);
  }
  if (isEmpty(await source.count())) {
    throw new Error(`${source.name} has nothing to copy. Check --from.`);
  }
  const earlier = await target.findEarlierCopy();
  if (earlier !== null) {
    if (earlier.source === source.name) return earlier.completed;
    throw new Error(
      `${target.name} is a copy of another database, ${earlier.source}. Name an empty or a new database.`,
    );
  }
  if (!isEmpty(await target.count())) {
    throw new Error(
      `${target.name} has data of its own. Name an empty or a new database. Nothing was changed.`,
    );
  }
  await target.noteCopy({ source: source.name, completed: false });
  return false;
}

const isEmpty = ({ scopes, applications, accounts, grants }: RecordCounts) =>
  scopes + applications + accounts + grants === 0;

async function* pages<Item>(
  read: (page: { after: string | null; limit: number }) => Promise<Item[]>,
  id: (item: Item) => string,
): AsyncGenerator<Item[]> {
  let after: string | null = null;
  for (;;) {
    const items: Item[] = await read({ after, limit: PAGE });
    const last = items.at(-1);
    if (last === undefined) return;
    yield items;
    after = id(last);
  }
}

const idOf = ({ id }: { id: string }) => id;
const accountIdOf = ({ account }: ListedAccount) => account.id;
const grantIdOf = ({ grant_id }: StoredGrant) => grant_id;

/**
 * Leaves out the active grants of an account or an application that the target lacks. It was erased or
 * deleted there, or it is so new that only the next copy brings it. What is revoked is copied without
 * the names of such an account.
 */
async function withOwners(grants: StoredGrant[], target: Transfer): Promise<StoredGrant[]> {
  const accountIds = grants.flatMap(({ details }) => details?.account.id ?? []);
  const accounts = await target.presentOf('accounts', [...new Set(accountIds)]);
  const applicationIds = grants.map(({ application_id }) => application_id);
  const applications = await target.presentOf('applications', [...new Set(applicationIds)]);
  return grants.flatMap((grant): StoredGrant[] => {
    const { details, application_id, revoked_at } = grant;
    const hasAccount = details === null || accounts.has(details.account.id);
    if (revoked_at === null) return hasAccount && applications.has(application_id) ? [grant] : [];
    if (hasAccount) return [grant];
    return [{ ...grant, details: { ...details, account: { ...details.account, ...ERASED } } }];
  });
}

/** Compares one grant of a page. */
async function compare(records: StoredGrant[], target: Transfer): Promise<void> {
  const expected = records[Math.floor(Math.random() * records.length)] as StoredGrant;
  const found = await target.findGrant(expected.grant_id);
  // What is ahead at the target was changed there.
  if (found !== null && (isAhead(found, expected) || isSameGrant(found, expected))) return;
  throw new Error(
    `The copy of grant ${expected.grant_id} differs from the original. Copy again; if it differs again, do not use the target, and report it.`,
  );
}

function isSameGrant(found: StoredGrant, expected: StoredGrant): boolean {
  if (expected.revoked_at !== null) return found.revoked_at !== null;
  if (isAhead(expected, found)) return false;
  return isDeepStrictEqual(found, expected);
}

async function verifyCounts(read: RecordCounts, target: Transfer, isFirst: boolean): Promise<void> {
  const found = await target.count();
  // A later copy leaves out what was deleted at the target.
  const names = isFirst
    ? (['scopes', 'applications', 'accounts', 'grants'] as const)
    : (['grants'] as const);
  for (const name of names) {
    if (found[name] >= read[name]) continue;
    throw new Error(
      `The target has ${found[name]} ${name}, and ${read[name]} were copied. Copy again; if it is so again, do not use the target, and report it.`,
    );
  }
}
