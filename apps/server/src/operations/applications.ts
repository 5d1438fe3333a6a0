import { DomainError } from '@latchkey/domain/domain-error';
import { createApplication } from '@latchkey/rules/applications/create-application';
import { deleteApplication } from '@latchkey/rules/applications/delete-application';
import { addSecret, removeSecret } from '@latchkey/rules/applications/secrets';
import { updateApplication } from '@latchkey/rules/applications/update-application';
import { marksOf, scopeMarksOf } from '@latchkey/rules/audit/name-marks';
import { readPins, vouchersOf } from '@latchkey/rules/linking/linking';
import type { Service } from '@latchkey/rules/service';
import type { ApplicationRecord } from '@latchkey/store/records';
import { readList } from './list.ts';
import type { OperationRows } from './row.ts';
import { toApplication, toApplicationSecret } from './wire.ts';

export const applicationRows: OperationRows<'admin.applications'> = {
  'admin.applications.create': {
    audited: 'always',
    ids: { application_id: 'output.id' },
    handle: async (service, members) => {
      const { application, secret } = await createApplication(service, members);
      return { ...toApplicationNow(service, application), ...(secret !== null && { secret }) };
    },
  },
  'admin.applications.list': {
    audited: 'refusals',
    ids: {},
    handle: async (service, { documents: documented, ...part }) => {
      await readPins(service);
      return readList(
        part,
        (range) => service.store.listApplications(range, { documented }),
        (application) => application.id,
        (application) => toApplicationNow(service, application),
      );
    },
  },
  'admin.applications.get': {
    audited: 'refusals',
    ids: { application_id: 'input.application_id' },
    handle: async (service, { application_id }) => {
      const application = await service.store.findApplication(application_id);
      if (application === null) throw new DomainError('application_not_found');
      return shown(service, application);
    },
  },
  'admin.applications.update': {
    audited: 'always',
    ids: { application_id: 'input.application_id' },
    handle: async (service, input, _operator, _initiator, { ids }) => {
      const { application_id, ...changes } = input;
      const { redirect_uris, scopes } = changes;
      const application = await updateApplication(service, application_id, changes);
      // A restore removes from the backup what is not in this list.
      if (redirect_uris !== undefined) ids.redirect_uris = marksOf(redirect_uris);
      if (scopes !== undefined) ids.scopes = scopeMarksOf(scopes);
      return shown(service, application);
    },
  },
  'admin.applications.secrets.create': {
    audited: 'always',
    ids: { application_id: 'input.application_id', secret_id: 'output.id' },
    handle: async (service, { application_id, expires_at }) => {
      const expiry = expires_at === null ? null : Date.parse(expires_at);
      const { secret, credential } = await addSecret(service, application_id, expiry);
      return { ...toApplicationSecret(secret), secret: credential };
    },
  },
  'admin.applications.secrets.revoke': {
    audited: 'always',
    ids: { application_id: 'input.application_id', secret_id: 'input.secret_id' },
    handle: async (service, { application_id, secret_id }) =>
      shown(service, await removeSecret(service, application_id, secret_id)),
  },
  'admin.applications.disable': {
    audited: 'always',
    ids: { application_id: 'input.application_id' },
    handle: (service, { application_id }) => setDisabled(service, application_id, true),
  },
  'admin.applications.enable': {
    audited: 'always',
    ids: { application_id: 'input.application_id' },
    handle: (service, { application_id }) => setDisabled(service, application_id, false),
  },
  'admin.applications.delete': {
    audited: 'always',
    ids: { application_id: 'input.application_id' },
    handle: async (service, { application_id }, _operator, initiator) => {
      // Nothing is read behind the mark: a failure would say that there is none.
      await readPins(service);
      const { deleted, isDone } = await deleteApplication(service, application_id, initiator);
      return { ...toApplicationNow(service, deleted), state: isDone ? 'deleted' : 'deleting' };
    },
  },
};

async function setDisabled(service: Service, application_id: string, disabled: boolean) {
  const { store, clock } = service;
  await readPins(service);
  const { show } = vouchersOf(service);
  const nameOf = (application: ApplicationRecord) => show(application).name;
  const application = await store.setApplicationDisabled(application_id, disabled, clock(), nameOf);
  if (application === null) throw new DomainError('application_not_found');
  return shown(service, application);
}

async function shown(service: Service, application: ApplicationRecord) {
  if (application.document !== null) await readPins(service);
  return toApplicationNow(service, application);
}

/** With the pins that were read last. */
const toApplicationNow = (service: Service, application: ApplicationRecord) =>
  toApplication(vouchersOf(service).show(application), service.clock());
