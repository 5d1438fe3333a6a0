import { textOfHash } from '@latchkey/domain/credentials/credentials';
import { CLAIM_LASTS } from '@latchkey/domain/lifetimes';
import type { SecretRecord } from '@latchkey/store/records';
import type { Store } from '@latchkey/store/store';
import type { StoreCall } from './child.ts';
import { erase } from './finish.ts';
import {
  aCode,
  aCommandChange,
  aConsentPage,
  aDeletion,
  aHash,
  aKey,
  aLink,
  anAccount,
  anApplication,
  anEndedTry,
  anEndpoint,
  anId,
  anInitiator,
  aPage,
  aPing,
  approvalOf,
  aScope,
  aSecret,
  granted,
  identificationOf,
  identified,
  issued,
  newCode,
  openingOf,
  recoveryOf,
  redemptionOf,
} from './records.ts';

/** A write whose way to the database fails. */
export interface FaultCase {
  call: StoreCall;
  /** Whether the write says that it was made. Default: if it returns anything but null and false. */
  isTold?(result: unknown): boolean;
  isMade(result: unknown): Promise<boolean>;
  /** What another process does meanwhile, or later. A late write undoes nothing of it. Default: nothing. */
  next?(): Promise<unknown>;
  /** What comes after that: its condition holds again. Default: nothing. */
  last?(): Promise<unknown>;
  /** What the record is. */
  state(): Promise<unknown>;
  /** Whether its caller makes it anew, with another id, in place of repeating it. Default: false. */
  isAnew?: true;
  /** Whether it may still come if nobody knows its outcome. Default: only if `next` is left out. */
  mayCome?: true;
  /** Whether it is a part of what was acknowledged, so that no error says that nothing was changed. Default: false. */
  isPart?: true;
  /** Whether it has several, and an error says nothing of those that are made: nobody waits for it. Default: false. */
  hasParts?: true;
}

type Method = StoreCall['method'];
const call = <M extends Method>(method: M, ...args: Parameters<NonNullable<Store[M]>>) =>
  ({ method, args }) as unknown as StoreCall;

const MOST = { most: 1_000 };
const LATER = 60_000;

/** Each primitive that writes, by operations that use it: their names begin with it. */
export const faultCases: Record<string, (store: Store) => Promise<FaultCase>> = {
  async 'change: redeemCode'(store) {
    const code = await issued(store);
    const { grant_id } = code;
    const redemption = redemptionOf(code);
    return {
      call: call('redeemCode', redemption),
      isMade: async () =>
        isSame((await ofGrant(store, grant_id))?.secret_hash, redemption.secret_hash),
      next: async () => (await store.redeemCode(redemptionOf(code))) ?? revoke(store, grant_id),
      state: () => ofGrant(store, grant_id),
    };
  },

  async 'change: redeemCode, and cancelCode'(store) {
    const code = await issued(store);
    return {
      call: call('redeemCode', redemptionOf(code)),
      isMade: async () => (await ofGrant(store, code.grant_id)) !== null,
      next: () => store.cancelCode(code.grant_id),
      state: () => store.findCode(code.grant_id),
    };
  },

  async 'change: revokeGrant'(store) {
    const { grant_id } = (await granted(store)).grant;
    const now = Date.now();
    return {
      call: call('revokeGrant', { grant_id, application_id: null, now, initiator: anInitiator() }),
      isMade: async () => (await ofGrant(store, grant_id))?.grant.revoked_at === now,
      next: () => revoke(store, grant_id, now + LATER),
      state: () => store.findGrantHistory(grant_id),
    };
  },

  async 'change: revokeGrant, of which one is told'(store) {
    const { grant_id } = (await granted(store)).grant;
    const now = Date.now();
    const revocation = { grant_id, application_id: null, onlyActive: true };
    const of = (at: number) => ({ ...revocation, now: at, initiator: anInitiator() });
    return {
      call: call('revokeGrant', of(now)),
      isMade: async () => (await ofGrant(store, grant_id))?.grant.revoked_at === now,
      next: () => store.revokeGrant(of(now + LATER)),
      state: () => store.findGrantHistory(grant_id),
    };
  },

  async 'change: noteUse, and recoverGrant'(store) {
    const { grant, secret_hash } = await granted(store);
    const { grant_id } = grant;
    const use = { grant_id, secret_hash, now: grant.created_at, initiator: anInitiator() };
    return {
      call: call('noteUse', use),
      isMade: async () => (await ofGrant(store, grant_id))?.first_used_at !== null,
      next: () => store.recoverGrant(recoveryOf(grant)),
      state: () => ofGrant(store, grant_id),
    };
  },

  async 'change at a revision: recoverGrant'(store) {
    const { grant } = await granted(store);
    const { grant_id } = grant;
    const recovery = recoveryOf(grant);
    return {
      call: call('recoverGrant', recovery),
      isMade: async () =>
        isSame((await ofGrant(store, grant_id))?.secret_hash, recovery.secret_hash),
      next: () => store.recoverGrant(recoveryOf(grant)),
      state: () => ofGrant(store, grant_id),
    };
  },

  async 'change at a revision: switchLink'(store) {
    const { link, page } = await identified(store);
    const to = (link_hash: Uint8Array) => ({
      ...{ link_id: link.id, page_id: page.id, link_hash },
      ...{ now: Date.now(), initiator: anInitiator() },
    });
    const link_hash = aHash();
    return {
      call: call('switchLink', to(link_hash)),
      isMade: async () => isSame((await store.findLink(link.id))?.link_hash, link_hash),
      next: () => store.switchLink(to(aHash())),
      state: () => store.findLink(link.id),
    };
  },

  async 'change at a revision: switchLink, and decideLink'(store) {
    const { link, page, account } = await identified(store);
    const switched = { link_id: link.id, page_id: page.id, link_hash: aHash() };
    return {
      call: call('switchLink', { ...switched, now: Date.now(), initiator: anInitiator() }),
      isMade: async () => (await store.findLink(link.id))?.switched ?? false,
      next: () => store.decideLink(approvalOf(link, account.id, page)),
      state: () => store.findLink(link.id),
    };
  },

  async 'change that is exact: decideLink'(store) {
    const { link, account } = await identified(store);
    const rival = anAccount();
    await store.putAccount(rival);
    const identify = (account_id: string) =>
      store.identifyLink(identificationOf(link, aConsentPage(link, { account_id })));
    return {
      call: call('decideLink', approvalOf(link, account.id)),
      isMade: async () => (await store.findLink(link.id))?.decision !== null,
      next: () => identify(rival.id),
      last: () => identify(account.id),
      state: () => store.findLink(link.id),
    };
  },

  async 'changeSome: a step of a revocation'(store) {
    const { account, grant_id } = (await granted(store)).grant;
    const mark = { account_id: account.id, now: Date.now(), initiator: anInitiator() };
    const work = await store.markRevocation(mark);
    if (work === null) throw new Error('There is something to revoke.');
    return {
      call: call('doStep', work, 'grants', 10),
      isTold: () => true,
      isMade: async () => (await store.doStep(work, 'grants', 10)).changed === 0,
      next: () => store.doStep(work, 'grants', 10),
      state: () => store.findGrantHistory(grant_id),
      isPart: true,
    };
  },

  async 'changeSome: claimDeliveries'(store) {
    const { endpoint_id, id, due } = await dueOne(store);
    const claim = anId();
    return {
      call: call('claimDeliveries', { now: due, claim, endpoints: [{ id: endpoint_id, most: 1 }] }),
      isTold: (claimed) => (claimed as unknown[]).length > 0,
      isMade: async () => (await store.findDelivery(id))?.claim === claim,
      next: () => claimAt(store, endpoint_id, due + CLAIM_LASTS + 1),
      state: () => store.findDelivery(id),
    };
  },

  async 'changeEach: releaseDeliveries'(store) {
    const { endpoint_id, id, due } = await dueOne(store);
    const claim = await claimAt(store, endpoint_id, due);
    return {
      call: call('releaseDeliveries', claim, [id], due),
      isTold: () => true,
      isMade: async () => (await store.findDelivery(id))?.claim === null,
      next: () => claimAt(store, endpoint_id, due + CLAIM_LASTS + 1),
      state: () => store.findDelivery(id),
    };
  },

  async 'changeEach: endTries'(store) {
    const { endpoint_id, id, due } = await dueOne(store);
    const claim = await claimAt(store, endpoint_id, due);
    const ended = { delivery_id: id, claim, endpoint_id, next_attempt_at: due, now: due };
    return {
      call: call('endTries', [anEndedTry({ ...ended, attempt: failed(due) })]),
      isTold: () => true,
      isMade: async () => (await store.findDelivery(id))?.attempts.length === 1,
      next: () => claimAt(store, endpoint_id, due + CLAIM_LASTS + 1),
      state: () => store.findDelivery(id),
      hasParts: true,
    };
  },

  async 'insertOnce: createLink'(store) {
    const link = aLink();
    return {
      call: call('createLink', { ...link, initiator: anInitiator() }),
      isTold: () => true,
      isMade: async () => (await store.findLink(link.id)) !== null,
      state: () => store.findLink(link.id),
      isAnew: true,
    };
  },

  async 'insertNew: keepCommandChanges'(store) {
    const change = aCommandChange();
    const kept = async () =>
      (await store.listCommandChanges(1_000)).find(({ id }) => id === change.id);
    return {
      call: call('keepCommandChanges', [change]),
      isTold: () => true,
      isMade: async () => (await kept())?.request_id === change.request_id,
      next: () => store.keepCommandChanges([aCommandChange({ id: change.id })]),
      state: kept,
    };
  },

  async 'insertHeld: issueCode, and cancelCode'(store) {
    const code = aCode();
    await store.putAccount(code.account);
    return {
      call: call('issueCode', newCode(code)),
      isMade: async () => (await store.findCode(code.grant_id)) !== null,
      next: () => store.cancelCode(code.grant_id),
      state: () => store.findCode(code.grant_id),
      isAnew: true,
      // Nobody was told the code.
      mayCome: true,
    };
  },

  async 'insertHeld: issueCode, and an erasure'(store) {
    const code = aCode();
    await store.putAccount(code.account);
    const { id: account_id } = code.account;
    return {
      call: call('issueCode', newCode(code)),
      isMade: async () => (await store.findCode(code.grant_id)) !== null,
      next: () => erase(store, { account_id, now: Date.now(), initiator: anInitiator() }),
      state: () => store.findCode(code.grant_id),
      isAnew: true,
    };
  },

  async 'insertHeld: createPage, and an erasure'(store) {
    const { id: account_id, ...names } = anAccount();
    await store.putAccount({ id: account_id, ...names });
    const page = aPage({ account_id });
    return {
      call: call('createPage', { ...page, initiator: anInitiator() }),
      isMade: async () => (await store.findPage(page.id)) !== null,
      next: () => erase(store, { account_id, now: Date.now(), initiator: anInitiator() }),
      state: () => store.findPageAccount(page.id),
      isAnew: true,
    };
  },

  async 'sequence: identifyLink'(store) {
    const { link, identify } = await open(store);
    const [first, second] = [await identify(), await identify()];
    return {
      call: call('identifyLink', first),
      isMade: async () => (await store.findLink(link.id))?.page_id === first.page.id,
      next: () => store.identifyLink(second),
      state: () => store.findLink(link.id),
      isAnew: true,
    };
  },

  async 'sequence: identifyLink, and an erasure'(store) {
    const { link, identify } = await open(store);
    const identification = await identify();
    const { account_id } = identification.page;
    return {
      call: call('identifyLink', identification),
      isMade: async () => (await store.findLink(link.id))?.page_id === identification.page.id,
      next: () => erase(store, { account_id, now: Date.now(), initiator: anInitiator() }),
      state: async () => (await store.findLink(link.id))?.account_id ?? null,
      isAnew: true,
    };
  },

  async 'remove: cancelCode'(store) {
    const code = await issued(store);
    return {
      call: call('cancelCode', code.grant_id),
      isMade: async () => (await store.findCode(code.grant_id)) === null,
      next: () => store.redeemCode(redemptionOf(code)),
      state: () => ofGrant(store, code.grant_id),
    };
  },

  async 'remove of what comes again: unpinDocument'(store) {
    const { pin, pinned, document_uri } = pinOf(store);
    await pin();
    return {
      call: call('unpinDocument', document_uri),
      isMade: async () => !(await pinned()),
      next: pin,
      state: pinned,
      mayCome: true,
    };
  },

  async 'removeSome: forgetCommandChanges'(store) {
    const change = aCommandChange();
    await store.keepCommandChanges([change]);
    const isKept = async () =>
      (await store.listCommandChanges(1_000)).some(({ id }) => id === change.id);
    return {
      call: call('forgetCommandChanges', [change.id]),
      isTold: () => true,
      isMade: async () => !(await isKept()),
      state: isKept,
    };
  },

  async 'next: takeLogNumbers'(store) {
    return {
      call: call('takeLogNumbers', { count: 1 }),
      isMade: async (taken) =>
        taken !== undefined && (await store.takeLogNumbers({ count: 1 })) > Number(taken),
      state: async () => null,
    };
  },

  async 'modify: putAccount'(store) {
    const account = anAccount();
    await store.putAccount(account);
    return {
      call: call('putAccount', { ...account, username: 'first' }),
      isTold: () => true,
      isMade: async () => (await store.findAccount(account.id))?.username === 'first',
      next: () => store.putAccount({ ...account, username: 'second' }),
      state: () => store.findAccount(account.id),
    };
  },

  async 'modify: markErasure, and putAccount'(store) {
    const account = anAccount();
    await store.putAccount(account);
    const { id: account_id } = account;
    return {
      call: call('markErasure', { account_id, now: Date.now(), initiator: anInitiator() }),
      isTold: () => true,
      isMade: async () => (await store.findAccount(account_id)) === null,
      next: () => store.putAccount({ ...account, username: 'again' }),
      state: () => store.findAccount(account_id),
    };
  },

  async 'modify of nothing: createApplication'(store) {
    const application = anApplication();
    const { id: application_id } = application;
    return {
      call: call('createApplication', application),
      isTold: () => true,
      isMade: async () => (await store.findApplication(application_id)) !== null,
      next: () => store.deleteApplication(aDeletion({ application_id })),
      state: () => store.findApplication(application_id),
      isAnew: true,
    };
  },

  async 'modify of nothing: putScope, and deleteScope'(store) {
    const scope = aScope();
    const described = async () =>
      (await store.listScopes()).some((one) => one.scope === scope.scope);
    return {
      call: call('putScope', scope, MOST),
      isMade: described,
      next: () => store.deleteScope(scope.scope),
      state: described,
    };
  },

  async 'modify that knows its own: addSecret'(store) {
    const { id } = await created(store);
    const secret = aSecret();
    return {
      call: call('addSecret', id, secret, { ...MOST, now: 0 }),
      isMade: async () => (await secretsOf(store, id)).includes(secret.id),
      next: () => store.removeSecret(id, secret.id),
      state: () => secretsOf(store, id),
      isAnew: true,
    };
  },

  // What another call adds or changes beside it says nothing of it.
  async 'modify that knows its own: updateApplication, and addSecret'(store) {
    const { id } = await created(store);
    const name = async () => (await store.findApplication(id))?.name;
    return {
      call: call('updateApplication', id, { name: 'Acme 2' }),
      isMade: async () => (await name()) === 'Acme 2',
      next: () => store.addSecret(id, aSecret(), { ...MOST, now: 0 }),
      state: name,
    };
  },

  async 'modify that knows its own: addSecret, and another'(store) {
    const { id } = await created(store);
    const secret = aSecret();
    return {
      call: call('addSecret', id, secret, { ...MOST, now: 0 }),
      isMade: async () => (await secretsOf(store, id)).includes(secret.id),
      next: () => store.addSecret(id, aSecret(), { ...MOST, now: 0 }),
      state: () => secretsOf(store, id),
      isAnew: true,
    };
  },

  async 'modify that knows its own: removeSecret, and addSecret'(store) {
    const secret = aSecret();
    const { id } = await created(store, [secret]);
    return {
      call: call('removeSecret', id, secret.id),
      isTold: (result) => typeof result !== 'string',
      isMade: async () => !(await secretsOf(store, id)).includes(secret.id),
      next: () => store.addSecret(id, aSecret(), { ...MOST, now: 0 }),
      state: () => secretsOf(store, id),
    };
  },

  async 'modify that knows its own: openPage, and another session'(store) {
    const { id: account_id, ...names } = anAccount();
    await store.putAccount({ id: account_id, ...names });
    const page = aPage({ account_id });
    await store.createPage({ ...page, initiator: anInitiator() });
    const session_hash = aHash();
    const waiting = async () => (await store.findPage(page.id))?.waiting ?? [];
    return {
      call: call('openPage', openingOf(page, { session_hash })),
      isMade: async () => (await waiting()).includes(textOfHash(session_hash)),
      next: () => store.openPage(openingOf(page, { session_hash: aHash() })),
      state: waiting,
      isAnew: true,
    };
  },

  async 'modify of a list: createKey, and another'(store) {
    const key = aKey();
    return {
      call: call('createKey', key, { ...MOST, now: 0 }),
      isMade: async () => (await store.findKey(key.id)) !== null,
      next: () => store.createKey(aKey(), { ...MOST, now: 0 }),
      state: () => store.findKey(key.id),
      isAnew: true,
    };
  },

  async 'modify of a list: createKey'(store) {
    const key = aKey();
    return {
      call: call('createKey', key, { ...MOST, now: 0 }),
      isMade: async () => (await store.findKey(key.id)) !== null,
      next: () => store.deleteKey(key.id),
      state: () => store.findKey(key.id),
      isAnew: true,
    };
  },

  async 'modify of what comes again: pinDocument'(store) {
    const { pinned, document_uri, pinning } = pinOf(store);
    return {
      call: call('pinDocument', ...pinning),
      isMade: pinned,
      next: () => store.unpinDocument(document_uri),
      state: pinned,
      mayCome: true,
    };
  },

  async 'marks: makeDeliveries'(store) {
    const { id: application_id } = await created(store);
    const endpoint = anEndpoint({ application_id });
    await store.createEndpoint(endpoint, MOST);
    while (await store.makeDeliveries(Date.now())) {
      // What other cases have left.
    }
    const { grant_id } = (await granted(store, { application_id })).grant;
    await revoke(store, grant_id);
    const made = () =>
      store.listDeliveries({ endpoint_id: endpoint.id }, { limit: 9, before: null });
    return {
      call: call('makeDeliveries', Date.now()),
      isTold: () => true,
      isMade: async () => (await made()).length === 1,
      async next() {
        await store.makeDeliveries(Date.now());
        await claimAt(store, endpoint.id, Date.now() + 1);
      },
      state: made,
      hasParts: true,
    };
  },
};

/** What a grant is at rest. */
const ofGrant = (store: Store, grant_id: string) =>
  store.authenticateGrant(grant_id, { currentAccount: false });

const isSame = (one: Uint8Array | null | undefined, other: Uint8Array) =>
  Buffer.compare(one ?? new Uint8Array(), other) === 0;

const revoke = (store: Store, grant_id: string, now = Date.now()) =>
  store.revokeGrant({ grant_id, application_id: null, now, initiator: anInitiator() });

async function created(store: Store, secrets: SecretRecord[] = []) {
  const application = anApplication({ secrets });
  await store.createApplication(application);
  return application;
}

const secretsOf = async (store: Store, application_id: string) =>
  (await store.findApplication(application_id))?.secrets.map(({ id }) => id) ?? [];

/** A delivery that is due. Not of the host, which is told of all other cases. */
async function dueOne(store: Store) {
  const { id: application_id } = await created(store);
  const endpoint = anEndpoint({ application_id });
  await store.createEndpoint(endpoint, MOST);
  const ping = aPing({ endpoint_id: endpoint.id });
  await store.createPing(ping);
  return { endpoint_id: endpoint.id, id: ping.id, due: Number(ping.due_at) + 1 };
}

/** @returns the claim */
async function claimAt(store: Store, id: string, now: number): Promise<string> {
  const claim = anId();
  await store.claimDeliveries({ now, claim, endpoints: [{ id, most: 1 }] });
  return claim;
}

const failed = (at: number) => ({
  ...{ at, duration_ms: 5, result: 'refused' as const, status_code: 500 },
});

/** A link request, and who may be identified. */
async function open(store: Store) {
  const link = aLink();
  await store.createLink({ ...link, initiator: anInitiator() });
  const identify = async () => {
    const account = anAccount();
    await store.putAccount(account);
    return identificationOf(link, aConsentPage(link, { account_id: account.id }));
  };
  return { link, identify };
}

function pinOf(store: Store) {
  const document_uri = `https://client.example/${anId()}`;
  const pinning = [{ document_uri, document: '{}', kept_at: 1 }, MOST] as const;
  return {
    ...{ document_uri, pinning },
    pin: () => store.pinDocument(...pinning),
    pinned: async () => (await store.listPinned()).includes(document_uri),
  };
}

/** The primitives that read. */
export const faultReads: Record<
  string,
  (store: Store) => Promise<{ call: StoreCall; expected: unknown }>
> = {
  async 'find: findPage'(store) {
    const { page } = await identified(store);
    return { call: call('findPage', page.id), expected: page };
  },

  async 'joined: authenticateGrant'(store) {
    const { grant_id } = (await granted(store)).grant;
    return {
      call: call('authenticateGrant', grant_id, { currentAccount: false }),
      expected: await ofGrant(store, grant_id),
    };
  },

  async 'list: listGrants'(store) {
    const { account } = (await granted(store)).grant;
    const asked = [{ account_id: account.id }, { limit: 9, before: null }] as const;
    return { call: call('listGrants', ...asked), expected: await store.listGrants(...asked) };
  },

  async 'count: countPendingCodes'(store) {
    await issued(store);
    return { call: call('countPendingCodes', { now: Date.now(), limit: 1 }), expected: 1 };
  },
};
