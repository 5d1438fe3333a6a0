import { DomainError } from '@latchkey/domain/domain-error';
import { beforeDeadline } from '@latchkey/domain/request-scope';
import { exportAccount } from '@latchkey/rules/accounts/export-account';
import { createApplication } from '@latchkey/rules/applications/create-application';
import { deleteApplication } from '@latchkey/rules/applications/delete-application';
import { addSecret, removeSecret } from '@latchkey/rules/applications/secrets';
import { updateApplication } from '@latchkey/rules/applications/update-application';
import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { marksOf, scopeMarksOf } from '@latchkey/rules/audit/name-marks';
import { cancelCode } from '@latchkey/rules/grants/cancel-code';
import { issueCode } from '@latchkey/rules/grants/issue-code';
import { revoke } from '@latchkey/rules/grants/revoke';
import { revokeAll } from '@latchkey/rules/grants/revoke-all';
import { vouchersOf } from '@latchkey/rules/linking/linking';
import { registeredResource } from '@latchkey/rules/resources/find-resource';
import type { Service } from '@latchkey/rules/service';
import { summarize } from '@latchkey/rules/summary/summary';
import type { ApplicationRecord } from '@latchkey/store/records';
import type { Handlers } from '../handler.ts';
import { readList } from '../list.ts';
import { listRefusals } from '../list-refusals.ts';
import { StreamedOutput } from '../streamed-output.ts';
import {
  accountExportText,
  toAccountEntry,
  toApplication,
  toApplicationSecret,
  toCancelledCode,
  toCodeMembers,
  toGrantEntry,
  toRevokedGrant,
} from '../wire.ts';

async function setDisabled(service: Service, application_id: string, disabled: boolean) {
  const { store, clock } = service;
  const { show } = vouchersOf(service);
  const nameOf = (application: ApplicationRecord) => show(application).name;
  const application = await store.setApplicationDisabled(application_id, disabled, clock(), nameOf);
  if (application === null) throw new DomainError('application_not_found');
  return shown(service, application);
}

const shown = (service: Service, application: ApplicationRecord) =>
  toApplication(vouchersOf(service).show(application), service.clock());

type AdminName = Extract<
  keyof Handlers,
  `admin.${'applications' | 'accounts' | 'codes' | 'grants' | 'refusals' | 'settings' | 'summary'}.${string}`
>;

export const adminHandlers: Handlers<AdminName> = {
  'admin.applications.create': async (service, members) => {
    const { application, secret } = await createApplication(service, members);
    return { ...shown(service, application), ...(secret !== null && { secret }) };
  },
  'admin.applications.list': (service, { documents: documented, ...part }) =>
    readList(
      part,
      (range) => service.store.listApplications(range, { documented }),
      (application) => application.id,
      (application) => shown(service, application),
    ),
  'admin.applications.get': async (service, { application_id }) => {
    const application = await service.store.findApplication(application_id);
    if (application === null) throw new DomainError('application_not_found');
    return shown(service, application);
  },
  'admin.applications.update': async (service, input, _operator, _initiator, { ids }) => {
    const { application_id, ...changes } = input;
    const { redirect_uris, scopes } = changes;
    const application = await updateApplication(service, application_id, changes);
    // A restore removes from the backup what is not in this list.
    if (redirect_uris !== undefined) ids.redirect_uris = marksOf(redirect_uris);
    if (scopes !== undefined) ids.scopes = scopeMarksOf(scopes);
    return shown(service, application);
  },
  'admin.applications.secrets.create': async (service, { application_id, expires_at }) => {
    const expiry = expires_at === null ? null : Date.parse(expires_at);
    const { secret, credential } = await addSecret(service, application_id, expiry);
    return { ...toApplicationSecret(secret), secret: credential };
  },
  'admin.applications.secrets.revoke': async (service, { application_id, secret_id }) =>
    shown(service, await removeSecret(service, application_id, secret_id)),
  'admin.applications.disable': (service, { application_id }) =>
    setDisabled(service, application_id, true),
  'admin.applications.enable': (service, { application_id }) =>
    setDisabled(service, application_id, false),
  'admin.applications.delete': async (service, { application_id }, _operator, initiator) =>
    shown(service, await deleteApplication(service, application_id, initiator)),
  'admin.accounts.put': async ({ store, room }, { account_id, ...input }) => {
    const account = {
      id: account_id,
      username: input.username,
      // Empty if it had only invisible characters.
      display_name: input.display_name || input.username,
      twitter: input.twitter || null,
      verified: input.verified,
      supporter: input.supporter,
      ...(input.external_id !== null && { external_id: input.external_id }),
    };
    // Changing an account needs no room.
    if ((await room.isFull()) && (await store.findAccount(account_id)) === null) {
      throw new DomainError('store_full');
    }
    await store.putAccount(account);
    return toAccountEntry(account);
  },
  'admin.accounts.get': async ({ store }, { account_id }) => {
    const account = await store.findAccount(account_id);
    if (account === null) throw new DomainError('account_not_found');
    return toAccountEntry(account);
  },
  'admin.accounts.list': ({ store }, { username, external_id, ...part }) =>
    readList(
      part,
      (range) => store.listAccounts({ username, external_id }, range),
      ({ place }) => place,
      ({ account }) => toAccountEntry(account),
    ),
  'admin.accounts.erase': async (
    { store, clock, counts },
    { account_id },
    _operator,
    initiator,
  ) => {
    const grants_revoked = await store.eraseAccount({ account_id, now: clock(), initiator });
    counts.add('revoked:account_erased', grants_revoked);
    return { object: 'account_erasure', id: account_id, grants_revoked };
  },
  'admin.accounts.export': (service, { account_id }) =>
    StreamedOutput.begin(accountExportText(exportAccount(service, account_id))),
  'admin.codes.issue': async (
    service,
    { resource: named, ...request },
    _operator,
    initiator,
    { publicUrl },
  ) => {
    const resource =
      named === undefined ? null : await registeredResource(service.store, named, publicUrl());
    const { code, pending } = await issueCode(service, { ...request, resource }, initiator);
    return { object: 'grant_code', code, ...toCodeMembers(pending) };
  },
  'admin.codes.cancel': async (service, { grant_id }) =>
    toCancelledCode(await cancelCode(service, grant_id)),
  'admin.grants.list': ({ store }, { account_id, application_id, ...part }) => {
    const filter = account_id === undefined ? { application_id } : { account_id };
    return readList(
      part,
      (range) => store.listGrants(filter, range),
      (grant) => grant.grant_id,
      toGrantEntry,
    );
  },
  'admin.grants.revoke': async (service, { grant_id }, _operator, initiator) =>
    toRevokedGrant(await revoke(service, null, grant_id, initiator)),
  'admin.grants.revokeAll': async (service, parties, _operator, initiator) => ({
    object: 'grant_revocations',
    ...(await revokeAll(service, parties, initiator)),
  }),
  'admin.grants.history': async ({ store, audit }, { grant_id }) => {
    // Refusals are written in the background.
    await beforeDeadline(audit.flush());
    return reportGrant(store, grant_id);
  },
  'admin.refusals.list': listRefusals,
  'admin.settings.get': async ({ settings }) => ({ object: 'settings', data: settings() }),
  'admin.summary.get': (service, { hours }) => summarize(service, hours),
};
