import { hashCredential } from '@latchkey/domain/credentials/credentials';
import { formatCredential } from '@latchkey/schema';
import type { AccountRecord } from '@latchkey/store/records';
import type { Store, StoreOptions } from '@latchkey/store/store';
import {
  aCode,
  aConsentPage,
  aKey,
  aLink,
  anAccount,
  anApplication,
  anInitiator,
  aPage,
  approvalOf,
  aRefusal,
  aResource,
  aScope,
  aSecret,
  denialOf,
  identificationOf,
  newCode,
  openingOf,
  recoveryOf,
  redemptionOf,
  unbound,
} from '@latchkey/store-suite/records';

// What a store of each version contains: something in every state. All of it is fixed, so that a later
// version knows what to expect.

const BEGIN = Date.UTC(2026, 10, 21, 2, 15, 30);
const DAY = 86_400_000;
/** Late enough that nothing is ever swept. */
const NEVER = Date.UTC(2100, 0, 1);

/** A UUIDv7 of that day. */
const id = (number: number) => `01a1fc00-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
const bytes = (number: number) => new Uint8Array(32).fill(number);

const ids = {
  applications: [id(1), id(2), id(3)] as const,
  accounts: [id(10), id(11), id(12)] as const,
  grants: Array.from({ length: 9 }, (_, index) => id(0x20 + index)),
  links: Array.from({ length: 6 }, (_, index) => id(0x30 + index)),
  pages: Array.from({ length: 8 }, (_, index) => id(0x40 + index)),
};
export const [pendingId = '', unboundId = '', activeId = ''] = ids.grants;
export const [openLinkId = '', identifiedLinkId = ''] = ids.links;

/** The secret of the active grant, for a request. */
export const grantSecret = formatCredential('grantSecret', activeId, bytes(7));

const [ada, grace, erased] = (['ada', 'grace', 'eve'] as const).map((username, index) =>
  anAccount({ id: ids.accounts[index] as string, username, display_name: `${username} 🔑` }),
) as [AccountRecord, AccountRecord, AccountRecord];

/** The code of a grant, with what redeems it. */
export const codeOf = (grant_id: string, account = ada) =>
  aCode({
    ...{ grant_id, account, application_id: ids.applications[0], code_expires_at: NEVER },
    code_hash: bytes(ids.grants.indexOf(grant_id) + 1),
    // The account is shown to grants of no resource.
    ...(grant_id === activeId && { resource: null }),
    ...(grant_id === unboundId
      ? unbound
      : { code_challenge: 'A'.repeat(43), link_id: ids.links[3] ?? null }),
  });

/** The link requests and pages, as they are kept. */
export const linkOf = (link_id: string) =>
  aLink({
    ...{ id: link_id, application_id: ids.applications[0], expires_at: NEVER },
    ...{ link_hash: bytes(0x30), salt: bytes(0x31), code_challenge: 'A'.repeat(43) },
    description_hash: bytes(0x32),
    resource: { id: id(0x33), resource: 'https://mcp.example/mcp', generation: 1 },
  });
const consentOf = (link_id: string, page_id: string) =>
  aConsentPage(linkOf(link_id), {
    ...{ id: page_id, account_id: ada.id },
    ...{ ticket_hash: bytes(0x40), ticket_expires_at: NEVER },
  });
export const unopenedPage = aPage({
  ...{ id: ids.pages[6] as string, account_id: ada.id, ticket_hash: bytes(0x40) },
  ...{ ticket_expires_at: NEVER, expires_at: NEVER },
});

const initiator = anInitiator({ request_id: id(0x60), secret_id: id(0x61) });

/** Writes everything into a new database. */
export async function writeContents(
  open: (options: Omit<StoreOptions, 'onError'>) => Promise<Store & { sweep(): Promise<void> }>,
): Promise<void> {
  const store = await open({ clock: () => BEGIN });
  const secrets = [
    aSecret({ id: id(0x61), hash: bytes(0x61), created_at: BEGIN, expires_at: BEGIN + DAY }),
    aSecret({ id: id(0x62), hash: bytes(0x62), created_at: BEGIN, last_used_at: BEGIN }),
  ];
  const [one, two, three] = ids.applications;
  await store.createApplication(
    anApplication({
      ...{ id: one, created_at: BEGIN, secrets, scopes: ['posts:read'], resource_server: true },
      ...{ logo_uri: 'https://acme.example/logo.png', homepage_uri: 'https://acme.example/' },
      ...{ policy_uri: 'https://acme.example/privacy', tos_uri: 'https://acme.example/terms' },
      challenge_required: true,
    }),
  );
  await store.createApplication(
    anApplication({ id: two, created_at: BEGIN, secrets: [], public: true, disabled: true }),
  );
  await store.createApplication(anApplication({ id: three, secrets: [], disabled: true }));
  await store.deleteApplication({
    application_id: three,
    deleted_at: BEGIN,
    deleted_by: initiator,
  });
  for (const account of [ada, grace, erased]) await store.putAccount(account);
  for (const scope of ['posts:read', 'posts:write', 'gone']) {
    await store.putScope(aScope({ scope }), { most: 200 });
  }
  await store.deleteScope('gone');
  await store.createResource(
    aResource({
      ...{ id: id(0x33), created_at: BEGIN, resource: 'https://mcp.example/mcp' },
      ...{ scopes: ['posts:read', 'posts:write'], default_scopes: ['posts:read'] },
    }),
    { most: 200 },
  );

  await writeGrants(store);
  await store.eraseAccount({ account_id: erased.id, now: BEGIN, initiator });
  await writeLinks(store);
  await store.keepRefusals([
    aRefusal({
      ...{ id: id(0x63), at: BEGIN, request_id: id(0x64), expires_at: NEVER },
      ...{ application_id: one, account_id: ada.id, grant_id: activeId, key_id: id(0x67) },
    }),
  ]);
  await store.createKey(
    aKey({ id: id(0x67), hash: bytes(0x67), created_at: BEGIN, last_used_at: BEGIN }),
    { most: 50, now: BEGIN },
  );
  await store.keepCommandChanges([
    {
      ...{
        id: id(0x65),
        at: BEGIN,
        operation: 'admin.applications.create',
        number: 1,
        os_user: 'ada',
      },
      ...{ request_id: id(0x66), ids: { application_id: one } },
    },
  ]);
  await store.takeLogNumbers({ count: 7 });
  await store.addToCount({ key: 'limit', points: 3, now: NEVER, duration: DAY });
  await store.keepLiveCount({ count: 7, counted_at: BEGIN });
  await store.addCounts({ hour: NEVER, counts: { 'grants:created': 2, 'revoked:idle': 1 } });
  await store.close();

  // Takes the details off the one grant that was revoked so long ago.
  const later = await open({ clock: () => BEGIN + 31 * DAY, revokedGrantDays: 30 });
  await later.sweep();
  await later.close();
}

async function writeGrants(store: Store): Promise<void> {
  const [, , , used, recovered, revoked, reduced, ofErased, moved] = ids.grants;
  for (const grant_id of ids.grants) {
    const account = grant_id === ofErased ? erased : grant_id === moved ? grace : ada;
    const code = codeOf(grant_id, account);
    await store.issueCode({ ...newCode(code), initiator });
    if (grant_id === pendingId || grant_id === unboundId) continue;
    const secret_hash = hashCredential(formatCredential('grantSecret', grant_id, bytes(7)));
    const now = BEGIN + 1_000;
    const grant = await store.redeemCode({ ...redemptionOf(code), secret_hash, now, initiator });
    if (!grant) throw new Error('A code was not redeemed.');
    if (grant_id === used) await store.noteUse({ grant_id, secret_hash, now, initiator });
    if (grant_id === recovered) {
      await store.recoverGrant(recoveryOf(grant, { secret_hash: bytes(8), initiator }));
    }
    if (grant_id === revoked || grant_id === reduced) {
      const at = grant_id === reduced ? BEGIN : BEGIN + 30 * DAY;
      await store.revokeGrant({ grant_id, application_id: null, now: at, initiator });
    }
  }
}

async function writeLinks(store: Store): Promise<void> {
  for (const [index, link_id] of ids.links.entries()) {
    const link = linkOf(link_id);
    await store.createLink({ ...link, initiator });
    if (link_id === openLinkId) continue;
    const page = consentOf(link_id, ids.pages[index] as string);
    await store.identifyLink(identificationOf(link, page, { now: BEGIN, initiator }));
    if (link_id === identifiedLinkId) continue;
    const session = { session_hash: bytes(0x41), expires_at: NEVER, now: BEGIN, initiator };
    await store.openPage(openingOf(page, session));
    const { grants } = ids;
    if (index === 2) {
      const change = { link_id, page_id: page.id, link_hash: bytes(0x32), now: BEGIN, initiator };
      await store.switchLink(change);
    }
    if (index === 3) {
      const approval = approvalOf(link, ada.id, page, { now: BEGIN, initiator });
      const decision = { ...approval.decision, grant_id: grants[2] as string };
      await store.decideLink({ ...approval, decision });
    }
    if (index === 4) await store.decideLink({ ...denialOf(link), now: BEGIN });
  }
  await store.createPage({ ...unopenedPage, initiator: anInitiator() });
}

/** All that the port shows of it. */
export async function readContents(store: Store): Promise<unknown> {
  const range = { limit: 100, before: null };
  const all = <T>(list: readonly string[], read: (each: string) => Promise<T>) =>
    Promise.all(list.map(read));
  const contents = {
    applications: await store.listApplications(range),
    deletions: await store.listDeletions(),
    accounts: await all(ids.accounts, (each) => store.findAccount(each)),
    listed: (await store.listAccounts({}, range)).map(({ account }) => account.username),
    scopes: await store.listScopes(),
    resources: await store.listResources(),
    links: await all(ids.links, (each) => store.findLink(each)),
    pages: await all(ids.pages, (each) => store.findPage(each)),
    codes: await all(ids.grants, (each) => store.findCode(each)),
    pending: await store.listCodes(ada.id),
    grants: await all(ids.grants, (each) =>
      store.authenticateGrant(each, { currentAccount: true }),
    ),
    history: await all(ids.grants, (each) => store.findGrantHistory(each)),
    of_ada: await store.listGrants({ account_id: ada.id }, range),
    connections: await store.listConnections(ada.id),
    command_changes: await store.listCommandChanges(10),
    log_number: await store.takeLogNumbers({ count: 0 }),
    refusals: await store.findRefusals({ account_id: ada.id }, { limit: 10, before: null }),
    count: await store.addToCount({ key: 'limit', points: 0, now: NEVER, duration: DAY }),
    counts: await store.listCounts({ since: NEVER, until: NEVER + 1 }),
    live: await store.findLiveCount(),
  };
  // Bytes have no place in JSON.
  const text = JSON.stringify(contents, (_, value) =>
    value instanceof Uint8Array || value?.type === 'Buffer'
      ? Buffer.from(value.data ?? value).toString('hex')
      : value,
  );
  return JSON.parse(text);
}
