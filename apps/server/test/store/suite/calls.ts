import type { StoreMethod } from '../../../src/store/observe-store.ts';
import type { Store } from '../../../src/store/store.ts';
import {
  aCode,
  aCommandChange,
  aDeletion,
  aHash,
  aLink,
  anAccount,
  anApplication,
  anId,
  anInitiator,
  aPage,
  aRefusal,
  aScope,
  aSecret,
  denialOf,
  identificationOf,
  newCode,
  openingOf,
  redemptionOf,
} from './records.ts';

/** A call of each method except `close`. */
export const calls: {
  [Method in StoreMethod]: (store: Store) => Promise<unknown>;
} = {
  createApplication: (store) => store.createApplication(anApplication()),
  findApplication: (store) => store.findApplication(anId()),
  listApplications: (store) => store.listApplications({ limit: 1, before: null }),
  addSecret: (store) => store.addSecret(anId(), aSecret(), { most: 5, now: 0 }),
  removeSecret: (store) => store.removeSecret(anId(), anId()),
  updateApplication: (store) => store.updateApplication(anId(), { name: 'Acme 2' }),
  setApplicationDisabled: (store) => store.setApplicationDisabled(anId(), true, 0),
  deleteApplication: (store) => store.deleteApplication(aDeletion()),
  listDeletions: (store) => store.listDeletions(),
  endGrants: (store) => store.endGrants(aDeletion(), { limit: 1, before: null }),
  forgetDeletion: (store) => store.forgetDeletion(anId()),
  noteSecretUse: (store) => store.noteSecretUse(anId(), anId(), 0),
  putAccount: (store) => store.putAccount(anAccount()),
  findAccount: (store) => store.findAccount(anId()),
  listAccounts: (store) => store.listAccounts({}, { limit: 1, before: null }),
  eraseAccount: (store) =>
    store.eraseAccount({ account_id: anId(), now: 0, initiator: anInitiator() }),
  putScope: (store) => store.putScope(aScope(), { most: 200 }),
  listScopes: (store) => store.listScopes(),
  listScopeNames: (store) => store.listScopeNames(),
  findDescriptionIds: (store) => store.findDescriptionIds(['read']),
  deleteScope: (store) => store.deleteScope('read'),
  createLink: (store) => store.createLink({ ...aLink(), initiator: anInitiator() }),
  findLink: (store) => store.findLink(anId()),
  identifyLink: (store) => store.identifyLink(identificationOf(aLink(), aPage())),
  switchLink: (store) =>
    store.switchLink({
      link_id: anId(),
      page_id: anId(),
      link_hash: aHash(),
      now: 0,
      initiator: anInitiator(),
    }),
  decideLink: (store) => store.decideLink(denialOf(aLink())),
  createPage: (store) => store.createPage({ ...aPage(), initiator: anInitiator() }),
  findPage: (store) => store.findPage(anId()),
  findPageAccount: (store) => store.findPageAccount(anId()),
  endPages: (store) => store.endPages(anId()),
  openPage: (store) => store.openPage(openingOf(aPage())),
  issueCode: (store) => store.issueCode(newCode(aCode())),
  listCodes: (store) => store.listCodes(anId()),
  listPendingCodes: (store) => store.listPendingCodes({ account_id: anId() }, 1),
  cancelCode: (store) => store.cancelCode(anId()),
  redeemCode: (store) => store.redeemCode(redemptionOf(aCode())),
  findCode: (store) => store.findCode(anId()),
  countPendingCodes: (store) => store.countPendingCodes({ now: 0, limit: 1 }),
  revokeGrant: (store) =>
    store.revokeGrant({ grant_id: anId(), application_id: null, now: 0, initiator: anInitiator() }),
  recoverGrant: (store) =>
    store.recoverGrant({
      grant_id: anId(),
      application_id: anId(),
      secret_hash: aHash(),
      redeemed_after: 0,
      now: 0,
      initiator: anInitiator(),
    }),
  newestGrantTime: (store) => store.newestGrantTime(),
  findGrantHistory: (store) => store.findGrantHistory(anId()),
  authenticateGrant: (store) => store.authenticateGrant(anId(), { currentAccount: true }),
  noteUse: (store) =>
    store.noteUse({
      grant_id: anId(),
      secret_hash: aHash(),
      now: 0,
      initiator: anInitiator(),
    }),
  listGrants: (store) => store.listGrants({ account_id: anId() }, { limit: 1, before: null }),
  listGrantHistories: (store) => store.listGrantHistories(anId(), { limit: 1, before: null }),
  listActiveGrants: (store) =>
    store.listActiveGrants(
      { account_id: anId(), application_id: anId() },
      { limit: 1, before: null },
    ),
  listConnections: (store) => store.listConnections(anId()),
  endConnection: (store) =>
    store.endConnection({
      account_id: anId(),
      application_id: anId(),
      now: 0,
      initiator: anInitiator(),
    }),
  removeTrial: (store) =>
    store.removeTrial({ grant_id: anId(), account_id: anId(), application_id: anId() }),
  keepRefusals: (store) => store.keepRefusals([aRefusal()]),
  findRefusals: (store) => store.findRefusals({ grant_id: anId() }, { limit: 1, before: null }),
  keepCommandChanges: (store) => store.keepCommandChanges([aCommandChange()]),
  listCommandChanges: (store) => store.listCommandChanges(1),
  forgetCommandChanges: (store) => store.forgetCommandChanges([anId()]),
  addToCount: (store) => store.addToCount({ key: anId(), points: 1, now: 0, duration: 1 }),
  ping: (store) => store.ping(),
};
