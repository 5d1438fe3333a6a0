import { deletionWork } from '@latchkey/store/endings';
import type { CountedPlace, RefusalFilter, Store } from '@latchkey/store/store';
import { erase, finish, finishAll, revokeAll, sweep } from './finish.ts';
import type { Past } from './many-grants.ts';
import {
  aCode,
  aCommandChange,
  aConsentPage,
  aDeletion,
  aDocumented,
  aHash,
  aKeptDocument,
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
  aRefusal,
  aResource,
  aScope,
  aSecret,
  denialOf,
  granted,
  identificationOf,
  identified,
  inPortions,
  issued,
  openingOf,
  recoveryOf,
  redemptionOf,
} from './records.ts';

export type OpenStore = Omit<Store, 'close'>;

const DAY = 86_400_000;
const HOUR = 3_600_000;

/** Calls each operation of a store that reduces grants after a day. At the end, the account is erased. */
export async function everyOperation(
  store: OpenStore,
  { account, application_id, before }: Past,
): Promise<void> {
  const now = Date.now();
  const initiator = anInitiator();
  const account_id = account.id;
  const connection = { account_id, application_id };
  const ofBoth = { account, application_id, application_revocations: 0 };
  const ranges = [
    { limit: 10, before: null },
    { limit: 10, before: 'ffffffff-ffff-7fff-bfff-ffffffffffff' },
  ];

  await store.ping();
  await store.putAccount(account);
  await store.findAccount(account_id);
  for (const range of ranges) {
    await store.listAccounts({}, range);
    await store.listAccounts({ username: account.username }, range);
    await store.listAccounts({ external_id: 'an-id' }, range);
  }

  const application = anApplication();
  const { id } = application;
  const secret = aSecret();
  await store.createApplication(application);
  await store.findApplication(id);
  await store.findApplication(id, { mayBeStale: true });
  await store.authenticateApplication(id);
  await store.authenticateApplication(id, { mayBeStale: true });
  await store.addSecret(id, secret, { most: 9, now });
  await store.noteSecretUse(id, secret.id, now);
  await store.removeSecret(id, secret.id);
  await store.updateApplication(id, { name: 'Renamed' });
  await store.setApplicationDisabled(id, true, now);
  for (const range of ranges) {
    for (const documented of [undefined, true, false]) {
      await store.listApplications(range, { documented });
    }
  }
  const documented = aDocumented();
  const { uri } = documented.document;
  await store.putDocumented(documented);
  await store.putDocumented({ ...documented, name: 'Renamed' });
  await store.findDocumented(uri);
  await store.findDocumented(uri, { mayBeStale: true });
  const deletion = aDeletion({ application_id: id });
  await store.deleteApplication(deletion);
  await store.listWork(10);
  await finish(store, deletionWork(deletion, 0));
  const lease = { name: 'sweep', holder: anId() };
  await store.takeLease({ ...lease, now, lasts: 1 });
  await store.releaseLease(lease);

  const scope = aScope();
  await store.putScope(scope, { most: 9 });
  await store.listScopes();
  await store.listScopeNames();
  await store.findDescriptionIds([scope.scope]);
  await store.findDescriptionIds([scope.scope], { mayBeStale: true });
  await store.deleteScope(scope.scope);

  const resource = aResource();
  await store.createResource(resource, { most: 9 });
  await store.listResources();
  await store.listResources({ mayBeStale: true });
  await store.updateResource(resource.id, { scopes: null });
  await store.deleteResource(resource.id);

  const fetched = aKeptDocument();
  const { document_uri, kept_at, kept_until: _, document } = fetched;
  await store.keepDocument(fetched);
  await store.keepDocument({ ...fetched, kept_at: kept_at + 3_600_000 });
  await store.findKeptDocument(document_uri);
  for (const after of [null, document_uri]) {
    for (const pinned of [undefined, true, false]) {
      await store.listKeptDocuments({ limit: 10, after }, { now, pinned });
    }
  }
  await store.endKeptDocument(document_uri);
  await store.pinDocument({ document_uri, kept_at, document }, { most: 9 });
  await store.listPinned();
  await store.unpinDocument(document_uri);

  const key = aKey();
  await store.createKey(key, { most: 9, now: 0 });
  await store.findKey(key.id);
  await store.findKey(key.id, { mayBeStale: true });
  await store.listKeys();
  await store.noteKeyUse(key.id, 1);
  await store.deleteKey(key.id);

  const endpoint = anEndpoint();
  await store.createEndpoint(endpoint, { most: 9 });
  await store.createEndpoint(anEndpoint({ application_id }), { most: 9 });
  await store.findEndpoint(endpoint.id);
  for (const range of ranges) {
    for (const owner of [undefined, null, application_id]) {
      await store.listEndpoints({ application_id: owner }, range);
    }
  }
  await store.updateEndpoint(endpoint.id, { types: null });
  await store.rotateEndpoint(endpoint.id, { overlap_until: null });
  await store.admitEventsKeys({ current: 'a', previous: null });
  await store.findEventsKeys();
  const ping = aPing({ endpoint_id: endpoint.id });
  await store.createPing(ping);
  await store.makeDeliveries(now);
  await store.listDueEndpoints({ now, except: [anId()] });
  const due = { now: now + 60_000, claim: anId(), endpoints: [{ id: endpoint.id, most: 4 }] };
  await store.claimDeliveries(due);
  await store.releaseDeliveries(due.claim, [ping.id], now);
  await store.endTries([anEndedTry({ delivery_id: ping.id, endpoint_id: endpoint.id })]);
  await store.findDelivery(ping.id);
  for (const range of ranges) {
    for (const status of [undefined, 'failed'] as const) {
      await store.listDeliveries({ endpoint_id: endpoint.id, status }, range);
      await store.listDeliveries({ grant_id: anId(), status }, range);
    }
  }
  await store.retryDelivery(ping.id, now);
  await store.replayDeliveries({ endpoint_id: endpoint.id, since: 0, now, limit: 9 });
  await store.countEvents(9);
  await store.deleteEndpoint(endpoint.id, now);

  const code = await issued(store, ofBoth);
  await store.findCode(code.grant_id);
  await store.listCodes(account_id);
  await store.countPendingCodes({ now, limit: 10 });
  await store.measure();
  await store.redeemCode(redemptionOf(code, { redirect_uri: null }));
  await store.redeemCode(redemptionOf(code, { redirect_uri: null, code_challenge: null }));
  await store.cancelCode(code.grant_id);
  await store.issueCode({ ...aCode(), account_id: anId(), initiator });

  const { grant } = await granted(store, ofBoth);
  const { grant_id } = grant;
  const recovery = recoveryOf(grant);
  await store.recoverGrant(recovery);
  await store.recoverGrant(recovery);
  await store.authenticateGrant(grant_id, { currentAccount: true });
  await store.authenticateGrant(grant_id, { currentAccount: false });
  await store.authenticateGrant(grant_id, { currentAccount: true, mayBeStale: true });
  await store.noteUse({ grant_id, secret_hash: recovery.secret_hash, now, initiator });
  await store.noteUse({ grant_id, secret_hash: recovery.secret_hash, now, initiator });
  await store.findGrantHistory(grant_id);
  await store.newestGrantTime();
  for (const range of ranges) {
    await store.listGrants({ account_id }, range);
    await store.listGrantHistories(account_id, range);
    await store.listGrants({ application_id }, range);
    await store.listActiveGrants(connection, range);
    await store.listActiveGrants({ application_id }, range);
  }
  await store.listGrants({ application_id }, { limit: 10, before });
  const { grant_id: oldest } = (await granted(store, ofBoth)).grant;
  for (const after of [null, anId()]) await store.listConnected(account_id, { limit: 10, after });
  await store.revokeGrant({ grant_id, application_id: null, unused_before: now, now, initiator });
  for (const onlyActive of [true, false]) {
    await store.revokeGrant({ grant_id, application_id, onlyActive, now, initiator });
  }
  await store.revokeGrant({
    grant_id: oldest,
    application_id: null,
    now: now - 2 * DAY,
    initiator,
  });
  await granted(store, ofBoth);
  for (const parties of [connection, { account_id }, { application_id }]) {
    await issued(store, ofBoth);
    await revokeAll(store, { ...parties, now, initiator });
  }
  // What is issued from now on is not ended.
  ofBoth.application_revocations = 1;
  const { link, page } = await identified(store, {}, account);
  await store.findLink(link.id);
  await store.findPage(page.id);
  const opening = openingOf(page);
  await store.openPage(opening);
  await store.returnToPage(page.id, opening.session_hash);
  await store.findPageAccount(page.id);
  const link_hash = aHash();
  await store.switchLink({ link_id: link.id, page_id: page.id, link_hash, now, initiator });
  const again = aConsentPage(link, { account_id });
  await store.identifyLink(identificationOf({ ...link, link_hash }, again));
  await store.switchLink({ link_id: link.id, page_id: again.id, link_hash, now, initiator });
  await store.decideLink(denialOf(link, again));
  await store.decideLink(denialOf(link, again));
  const late = aConsentPage(link, { account_id });
  await store.identifyLink(identificationOf(link, late));
  const approved = aLink();
  await store.createLink({ ...approved, initiator });
  await store.decideLink(approvalOf(approved, account_id));
  await store.createPage({ ...aPage({ account_id }), initiator });
  await store.endPages(account_id);

  const refusal = aRefusal();
  await store.keepRefusals([refusal]);
  for (const range of ranges) {
    const { request_id, application_id, account_id, grant_id } = refusal;
    const ids = { application_id, account_id, grant_id } as Record<string, string>;
    for (const [name, value] of Object.entries({ request_id, ...ids })) {
      await store.findRefusals({ [name]: value } as RefusalFilter, range);
    }
    await store.findRefusals({}, range);
    await store.findFirstRefusal(request_id);
  }

  const change = aCommandChange();
  await store.keepCommandChanges([change]);
  await store.listCommandChanges(10);
  await store.forgetCommandChanges([change.id]);

  await store.takeLogNumbers({ count: 1, above: 1 });
  await store.keepLiveCount({ count: 1, counted_at: now });
  const hour = Math.floor(now / HOUR) * HOUR;
  await store.addCounts({ hour, counts: { 'grants:created': 1, 'revoked:idle': 2 } });
  await store.listCounts({ since: hour, until: hour + HOUR });
  await store.findLiveCount();
  for (let after: CountedPlace | null = null, part = 0; part < 60; part += 1) {
    ({ after } = await store.countActiveGrants({ after, limit: 10 }));
    if (after === null) break;
  }

  await store.addToCount({ key: anId(), points: 1, now, duration: HOUR });
  await sweep(store, now);

  const trial = anAccount();
  const tried = await granted(store, { account: trial });
  await store.removeTrial({
    account_id: trial.id,
    application_id: tried.grant.application_id,
    grant_id: tried.grant.grant_id,
  });

  // With something to tell of each kind.
  const listener = anEndpoint();
  await store.createEndpoint(listener, { most: 99 });
  const paused = anApplication();
  await store.createApplication(paused);
  await store.createEndpoint(anEndpoint({ application_id: paused.id }), { most: 9 });
  await store.setApplicationDisabled(paused.id, true, now);
  const connected = anApplication();
  await store.createApplication(connected);
  const own = anEndpoint({ application_id: connected.id });
  await store.createEndpoint(own, { most: 9 });
  await granted(store, { account, application_id: connected.id });
  await granted(store, ofBoth);
  await store.putAccount({ ...account, display_name: 'Renamed' });
  await store.makeDeliveries(now);
  // And what is not told any more.
  await store.updateApplication(connected.id, { idle_days: 1 });
  const idle = { now: now + 9 * DAY, claim: anId(), endpoints: [{ id: own.id, most: 9 }] };
  await store.claimDeliveries(idle);
  await store.putAccount(account);
  await store.makeDeliveries(now);
  const ofConnected = { account_id, application_id: connected.id };
  await revokeAll(store, { ...ofConnected, now: Date.now(), initiator });
  await store.makeDeliveries(now);
  const claim = anId();
  const [claimed] = await store.claimDeliveries({
    ...{ now, claim, endpoints: [{ id: listener.id, most: 1 }] },
  });
  const attempt = { at: now, duration_ms: 1, result: 'refused' as const, status_code: 410 };
  const delivery_id = claimed?.delivery.id ?? anId();
  await store.endTries([
    anEndedTry({
      ...{ delivery_id, claim, endpoint_id: listener.id },
      ...{ url: listener.url, attempt, isGone: true },
    }),
  ]);
  await store.updateEndpoint(listener.id, { disabled_reason: null });
  await store.retryDelivery(delivery_id, now);
  await store.replayDeliveries({ endpoint_id: listener.id, since: 0, now, limit: 9 });
  await store.deleteEndpoint(listener.id, now);
  await store.deleteApplication(aDeletion({ application_id: paused.id }));
  await finishAll(store);
  await sweep(store, Date.now());
  await issued(store, ofBoth);
  await erase(store, { account_id, now, initiator });
  await store.markErasure({ account_id, now, initiator });
  // It completes the erasure first.
  await store.putAccount(account);
}

/** Few, but more than a statement may examine. */
export async function rowsBeside(store: Store, count: number): Promise<void> {
  const account = anAccount();
  const initiator = anInitiator();
  await store.putAccount(account);
  await inPortions(count, async () => {
    await issued(store, { code_expires_at: Date.now() + HOUR });
    await store.createLink({ ...aLink(), initiator });
    await store.createPage({ ...aPage({ account_id: account.id }), initiator });
    await store.addToCount({ key: anId(), points: 1, now: Date.now(), duration: HOUR });
  });
  await inPortions(count, () => store.keepDocument(aKeptDocument()));
  await store.keepRefusals(Array.from({ length: count }, () => aRefusal()));
}
