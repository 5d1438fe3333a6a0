import { textOfHash } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import type { Choice } from '@latchkey/schema';
import { deletionWork, type Work } from '@latchkey/store/endings';
import { plainApplication } from '@latchkey/store/plain-application';
import type {
  ApplicationRecord,
  CodeBinding,
  CommandChange,
  CredentialHash,
  CurrentAccount,
  DeletionRecord,
  DeliveryRecord,
  DocumentedClient,
  EndpointRecord,
  GrantAuthentication,
  GrantRecord,
  KeptDocument,
  KeyRecord,
  LinkRecord,
  PageRecord,
  PendingRecord,
  RefusalRecord,
  ResourceRecord,
  RevokedRecord,
  ScopeRecord,
  SecretRecord,
} from '@latchkey/store/records';
import type {
  DocumentedApplication,
  EndedTry,
  Identification,
  NewCode,
  NewDecision,
  PageOpening,
  Recovery,
  Redemption,
  Store,
} from '@latchkey/store/store';
import { v7 } from 'uuid';

// Records for tests. Their times are close to now, since a database may delete expired codes by its
// own clock.

/** A UUIDv7: later ones are greater, also within a millisecond. */
export const anId = (): string => v7();

export const aHash = (): CredentialHash => crypto.getRandomValues(new Uint8Array(32));

export function aSecret(members: Partial<SecretRecord> = {}): SecretRecord {
  return {
    id: anId(),
    hash: textOfHash(aHash()),
    hint: 'lk_app_…9XyZ',
    created_at: Date.now(),
    expires_at: null,
    last_used_at: null,
    ...members,
  };
}

export function anApplication(members: Partial<ApplicationRecord> = {}): ApplicationRecord {
  return {
    ...plainApplication,
    id: anId(),
    name: 'Acme',
    created_at: Date.now(),
    secrets: [aSecret()],
    redirect_uris: ['https://acme.example/callback'],
    ...members,
  };
}

export function aDocumented(members: Partial<DocumentedApplication> = {}): DocumentedApplication {
  const document: DocumentedClient = {
    uri: `https://client-${anId()}.example/client.json`,
    method: 'private_key_jwt',
    jwks_uri: 'https://client.example/keys.json',
    signing_alg: 'ES256',
  };
  return { ...anApplication({ secrets: [], public: true }), document, ...members };
}

export function aCommandChange(members: Partial<CommandChange> = {}): CommandChange {
  return {
    id: anId(),
    at: Date.now(),
    number: 1,
    operation: 'admin.grants.revoke',
    os_user: 'ada',
    request_id: anId(),
    ids: { grant_id: anId() },
    ...members,
  };
}

export function aDeletion(members: Partial<DeletionRecord> = {}): DeletionRecord {
  return { application_id: anId(), deleted_at: Date.now(), deleted_by: anInitiator(), ...members };
}

/** Of no application that is there. */
export const aWork = (): Work => deletionWork(aDeletion(), 0);

export function anAccount(members: Partial<CurrentAccount> = {}): CurrentAccount {
  return {
    id: anId(),
    username: 'ada',
    display_name: 'Ada Lovelace',
    twitter: null,
    verified: false,
    supporter: true,
    ...members,
  };
}

export function aScope(members: Partial<ScopeRecord> = {}): ScopeRecord {
  return {
    scope: `read:${anId()}`,
    title: 'Read your posts',
    description: 'Also those that only your followers see.',
    texts: { de: { title: 'Deine Beiträge lesen' } },
    sensitive: false,
    ...members,
  };
}

export function aResource(members: Partial<ResourceRecord> = {}): ResourceRecord {
  const id = anId();
  return {
    id,
    resource: `https://mcp.example/${id}`,
    name: 'Notes',
    scopes: ['notes.read', 'notes.write'],
    default_scopes: ['notes.read'],
    created_at: 1_700_000_000_000,
    generation: 0,
    ...members,
  };
}

export function aKeptDocument(members: Partial<KeptDocument> = {}): KeptDocument {
  const document_uri = `https://client.example/${anId()}`;
  return {
    document_uri,
    document: JSON.stringify({ client_id: document_uri }),
    kept_at: 1_700_000_000_000,
    kept_until: Date.now() + 3_600_000,
    ...members,
  };
}

export function aKey(members: Partial<KeyRecord> = {}): KeyRecord {
  return { ...aSecret(), name: 'Sign-in page', role: 'host', ...members };
}

/** What a code is bound to that an authorization request led to. */
export function anEndpoint(members: Partial<EndpointRecord> = {}): EndpointRecord {
  return {
    id: anId(),
    application_id: null,
    url: 'https://hooks.example/latchkey',
    types: null,
    disabled_reason: null,
    created_at: Date.now(),
    secret_version: 1,
    overlap_until: null,
    last_success_at: null,
    failing_since: null,
    failures: 0,
    ...members,
  };
}

export function aPing(members: Partial<DeliveryRecord> = {}): DeliveryRecord & { claim: string } {
  const now = Date.now();
  return {
    id: anId(),
    endpoint_id: anId(),
    event_id: anId(),
    type: 'ping',
    grant_id: null,
    account_id: null,
    body: '{"type":"ping","data":{}}',
    status: 'pending',
    created_at: now,
    due_at: now + 60_000,
    tries: 0,
    attempts: [],
    ended_at: null,
    claim: anId(),
    ...members,
  } as DeliveryRecord & { claim: string };
}

export function anEndedTry(members: Partial<EndedTry> = {}): EndedTry {
  const now = Date.now();
  return {
    delivery_id: anId(),
    claim: anId(),
    endpoint_id: anId(),
    url: 'https://hooks.example/latchkey',
    attempt: { at: now, duration_ms: 5, result: 'delivered', status_code: 204 },
    next_attempt_at: null,
    isGone: false,
    now,
    ...members,
  };
}

export function aBinding(members: Partial<CodeBinding> = {}): CodeBinding {
  return {
    redirect_uri: 'https://acme.example/callback',
    redirect_uri_given: true,
    code_challenge: Buffer.from(aHash()).toString('base64url'),
    resource: 'https://mcp.example/mcp',
    link_id: anId(),
    ...members,
  };
}

/** What a code is bound to that was issued to nobody's browser. */
export const unbound: CodeBinding = {
  redirect_uri: null,
  redirect_uri_given: false,
  code_challenge: null,
  resource: null,
  link_id: null,
};

/** What a user chose. */
export const aChoice = (members: Partial<Choice> = {}): Choice => ({
  id: 'ws-7',
  label: 'Acme Inc.',
  ...members,
});

export function aCode(members: Partial<PendingRecord> = {}): PendingRecord {
  return {
    grant_id: anId(),
    application_id: anId(),
    scope: 'profile:read links:write',
    generation: 0,
    application_revocations: 0,
    account: anAccount(),
    choice: aChoice(),
    code_hash: aHash(),
    code_expires_at: Date.now() + 300_000,
    ...aBinding(),
    ...members,
  };
}

/** What the store is given of a code. */
export function newCode({ account, ...code }: PendingRecord): NewCode {
  return { ...code, account_id: account.id, initiator: anInitiator() };
}

/** Puts the account of a code, and issues the code. */
export async function issued(
  store: Pick<Store, 'putAccount' | 'issueCode'>,
  members: Partial<PendingRecord> = {},
): Promise<PendingRecord> {
  const code = aCode(members);
  await store.putAccount(code.account);
  await store.issueCode(newCode(code));
  return code;
}

/** A redemption of a code, with what it is bound to. */
export function redemptionOf(code: PendingRecord, members: Partial<Redemption> = {}): Redemption {
  const { grant_id, application_id, code_hash, redirect_uri, code_challenge } = code;
  return {
    ...{ grant_id, application_id, code_hash, redirect_uri, code_challenge },
    secret_hash: aHash(),
    resources: null,
    disabled_generation: 0,
    now: code.code_expires_at - 1_000,
    initiator: anInitiator(),
    ...members,
  };
}

export interface Granted {
  code: PendingRecord;
  grant: GrantRecord;
  secret_hash: CredentialHash;
}

/** Issues a code and redeems it. */
export async function granted(
  store: Pick<Store, 'putAccount' | 'issueCode' | 'redeemCode'>,
  members: Partial<PendingRecord> = {},
): Promise<Granted> {
  const code = await issued(store, members);
  const { grant, secret_hash } = await redeemed(store, code);
  return { code, grant, secret_hash };
}

/** Redeems a code, which has to succeed. */
export async function redeemed(store: Pick<Store, 'redeemCode'>, code: PendingRecord) {
  const redemption = redemptionOf(code);
  const grant = await store.redeemCode(redemption);
  if (!grant) throw new Error('A good code was not redeemed.');
  return { grant, secret_hash: redemption.secret_hash };
}

/** A recovery of a grant. */
export function recoveryOf(grant: GrantRecord, members: Partial<Recovery> = {}): Recovery {
  const { grant_id, application_id } = grant;
  return {
    ...{ grant_id, application_id },
    secret_hash: aHash(),
    redeemed_after: grant.created_at - 1,
    now: grant.created_at,
    initiator: anInitiator(),
    ...members,
  };
}

type Authenticating = Pick<Store, 'authenticateGrant'>;

/** What authentication finds, with the whole grant: its account is the one of the issue. */
export async function authenticated(store: Authenticating, grant_id: string) {
  const found = await store.authenticateGrant(grant_id, { currentAccount: false });
  if (found === null) return null;
  // At issue every code has an account.
  const grant = { ...found.grant, account: found.account as CurrentAccount };
  return { ...found, grant };
}

/** The grant as it is in the store; null if there is none. */
export async function grantOf(
  store: Authenticating,
  grant_id: string,
): Promise<GrantRecord | null> {
  const found = await authenticated(store, grant_id);
  return found?.grant ?? null;
}

/** A grant as authentication returns it, which has the account beside it. */
export function withoutAccount({
  account: _,
  ...grant
}: GrantRecord): GrantAuthentication['grant'] {
  return grant;
}

/** What a revocation returns. */
export function revokedRecord(grant: GrantRecord, revoked_at: number): RevokedRecord {
  const { grant_id, application_id, created_at } = grant;
  return { grant_id, application_id, created_at, revoked_at };
}

export function anInitiator(members: Partial<Initiator> = {}): Initiator {
  return { request_id: anId(), by: 'application', secret_id: anId(), ...members };
}

export function aRefusal(members: Partial<RefusalRecord> = {}): RefusalRecord {
  const at = Date.now();
  return {
    id: anId(),
    at,
    request_id: anId(),
    operation: 'grants.convert',
    error_code: 'code_not_found',
    reason: 'code_unknown',
    by: 'application',
    application_id: anId(),
    account_id: anId(),
    grant_id: anId(),
    key_id: anId(),
    address: '192.0.2.1',
    expires_at: at + 86_400_000,
    ...members,
  };
}

/** An open link request. */
export function aLink(members: Partial<LinkRecord> = {}): LinkRecord {
  return {
    id: anId(),
    link_hash: aHash(),
    application_id: anId(),
    document: null,
    redirect_uri: 'http://127.0.0.1:51004/callback?from=latchkey',
    redirect_uri_given: true,
    resource: { id: anId(), resource: 'https://mcp.example/mcp', generation: 2 },
    scope: 'profile:read links:write',
    optional_scope: 'links:delete',
    state: 'a"b <c>\\ ',
    code_challenge: Buffer.from(aHash()).toString('base64url'),
    login_hint: 'ada@example.org',
    ui_locales: 'de-AT en',
    salt: aHash(),
    generation: 3,
    description_hash: aHash(),
    expires_at: Date.now() + 3_600_000,
    account_id: null,
    page_id: null,
    switched: false,
    decision: null,
    ...members,
  };
}

/** A page that was not opened. */
export function aPage(members: Partial<PageRecord> = {}): PageRecord {
  return {
    id: anId(),
    kind: 'connections',
    link_id: null,
    account_id: anId(),
    ticket_hash: aHash(),
    ticket_expires_at: Date.now() + 300_000,
    opened_at: null,
    waiting: null,
    session_hash: null,
    expires_at: Date.now() + 300_000,
    return_url: 'https://host.example/settings',
    locale: 'de',
    choice: { title: 'Which workspace?', options: [aChoice(), { id: 'ws-8' }] },
    ...members,
  };
}

/** The consent page of a link request. */
export function aConsentPage(link: LinkRecord, members: Partial<PageRecord> = {}): PageRecord {
  const { id: link_id, expires_at } = link;
  return aPage({ kind: 'consent', link_id, expires_at, return_url: null, ...members });
}

/** An identification on the host's side, by the link that the host got. */
export function identificationOf(
  link: LinkRecord,
  page: PageRecord,
  members: Partial<Identification> = {},
): Identification {
  const { id: link_id, link_hash, expires_at } = link;
  return {
    ...{ link_id, link_hash, page },
    own_page: false,
    now: expires_at - 1_000,
    initiator: anInitiator(),
    ...members,
  };
}

export interface Identified {
  link: LinkRecord;
  page: PageRecord;
  account: CurrentAccount;
}

/** Keeps a link request, and identifies an account. */
export async function identified(
  store: Pick<Store, 'createLink' | 'putAccount' | 'identifyLink'>,
  members: Partial<LinkRecord> = {},
  account = anAccount(),
): Promise<Identified> {
  const open = aLink(members);
  await store.createLink({ ...open, initiator: anInitiator() });
  await store.putAccount(account);
  const page = aConsentPage(open, { account_id: account.id });
  const link = await store.identifyLink(identificationOf(open, page));
  if (!link) throw new Error('An open link request was not identified.');
  return { link, page, account };
}

/** An approval, by the link or by a page. */
export function approvalOf(
  link: LinkRecord,
  account_id: string,
  page?: PageRecord,
  members: Partial<NewDecision> = {},
): NewDecision {
  return {
    link_id: link.id,
    holder: page ? { page_id: page.id } : { link_hash: link.link_hash },
    account_id,
    decision: {
      status: 'approved',
      decided_by: page?.id ?? link.id,
      grant_id: anId(),
      scope: 'profile:read',
      choice: aChoice(),
    },
    now: link.expires_at - 1_000,
    initiator: anInitiator(),
    ...members,
  };
}

/** A denial, by the link or by a page. */
export function denialOf(link: LinkRecord, page?: PageRecord): NewDecision {
  const decided_by = page?.id ?? link.id;
  return {
    ...approvalOf(link, '', page),
    account_id: null,
    decision: { status: 'denied', decided_by, grant_id: null, scope: null, choice: null },
  };
}

/** An opening of a page with its ticket. */
export function openingOf(page: PageRecord, members: Partial<PageOpening> = {}): PageOpening {
  const { id: page_id, ticket_hash, ticket_expires_at } = page;
  return {
    ...{ page_id, ticket_hash },
    session_hash: aHash(),
    expires_at: ticket_expires_at + 1_500_000,
    now: ticket_expires_at - 1_000,
    initiator: anInitiator(),
    ...members,
  };
}

/** Makes concurrent calls. */
export function atOnce<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}

// Each round takes several connections at once, from pools of 100.
const PORTION = 12;

/** Many rounds, of which some are at once. */
export async function inPortions(
  rounds: number,
  call: (round: number) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < rounds; start += PORTION) {
    await atOnce(Math.min(PORTION, rounds - start), (index) => call(start + index));
  }
}

/** The results that are not null. */
export function present<T>(results: (T | null)[]): T[] {
  return results.filter((result) => result !== null);
}
