import { DomainError } from '@latchkey/domain/domain-error';
import { beforeDeadline } from '@latchkey/domain/request-scope';
import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { endReplacedGrants } from '@latchkey/rules/grants/end-replaced-grants';
import { introspect } from '@latchkey/rules/grants/introspect';
import { recover } from '@latchkey/rules/grants/recover';
import { redeem } from '@latchkey/rules/grants/redeem';
import { revoke } from '@latchkey/rules/grants/revoke';
import { revokeAll } from '@latchkey/rules/grants/revoke-all';
import { revokeToken } from '@latchkey/rules/grants/revoke-token';
import { resourcesMeant } from '@latchkey/rules/resources/find-resource';
import { readList } from './list.ts';
import { noteMark, stateOf } from './note-mark.ts';
import type { OperationRows } from './row.ts';
import { toFullGrant, toGrantEntry, toIntrospection, toRevokedGrant } from './wire.ts';

export const grantRows: OperationRows<'grants' | 'admin.grants'> = {
  'grants.convert': {
    counts: 'exchanges',
    audited: 'always',
    ids: { grant_id: 'output.grant_id' },
    handle: async (service, request, { application }, initiator, { publicUrl }) => {
      const { resource } = request;
      const resources =
        resource === undefined ? null : await resourcesMeant(service.store, resource, publicUrl());
      const redeemed = await redeem(service, application, { ...request, resources }, initiator);
      const most = application.grants_per_account;
      if (most !== null) await endReplacedGrants(service, redeemed.grant, most, initiator);
      return toFullGrant(redeemed);
    },
  },
  'grants.revoke': {
    counts: 'requests',
    audited: 'always',
    ids: { grant_id: 'input.grant_id' },
    handle: async (service, { grant_id }, { application, secret_id }, initiator) => {
      // Anybody can call in the name of a public application, so it must show the secret of the
      // grant. Its credentials are right all the same.
      if (secret_id === null) {
        throw DomainError.invalid(['grant_id'], 'A public application has to send token instead.');
      }
      return toRevokedGrant(await revoke(service, application.id, grant_id, initiator));
    },
  },
  'grants.revokeToken': {
    counts: 'requests',
    audited: 'always',
    ids: {},
    handle: async (service, { token }, { application }, initiator, details) => {
      const revoked = await revokeToken(service, application.id, token, initiator);
      // Only of a grant that it ended: a made-up token can contain the id of any grant.
      if (revoked !== null) details.ids.grant_id = revoked.grant_id;
      else details.countFruitless();
      return {};
    },
  },
  'grants.introspect': {
    counts: 'requests',
    audited: 'always',
    ids: { grant_id: 'output.grant_id' },
    handle: async (service, { token }, { application }, initiator, { publicUrl }) =>
      toIntrospection(await introspect(service, application, token, initiator), publicUrl()),
  },
  'grants.recover': {
    counts: 'requests',
    audited: 'always',
    ids: { grant_id: 'input.grant_id' },
    handle: async (service, { grant_id }, { application }, initiator) =>
      toFullGrant(await recover(service, application.id, grant_id, initiator)),
  },
  'admin.grants.list': {
    audited: 'refusals',
    ids: { account_id: 'input.account_id', application_id: 'input.application_id' },
    handle: ({ store }, { account_id, application_id, ...part }) => {
      const filter = account_id === undefined ? { application_id } : { account_id };
      return readList(
        part,
        (range) => store.listGrants(filter, range),
        (grant) => grant.grant_id,
        toGrantEntry,
      );
    },
  },
  'admin.grants.revoke': {
    audited: 'always',
    ids: { grant_id: 'input.grant_id' },
    handle: async (service, { grant_id }, _operator, initiator) =>
      toRevokedGrant(await revoke(service, null, grant_id, initiator)),
  },
  'admin.grants.revokeAll': {
    audited: 'always',
    ids: { account_id: 'input.account_id', application_id: 'input.application_id' },
    handle: async (service, parties, _operator, initiator, { ids }) => {
      const ended = noteMark(ids, await revokeAll(service, parties, initiator));
      const { grants_revoked, codes_cancelled } = ended;
      return {
        object: 'grant_revocations',
        state: stateOf(ended),
        grants_revoked,
        codes_cancelled,
      };
    },
  },
  'admin.grants.history': {
    audited: 'refusals',
    ids: { grant_id: 'input.grant_id' },
    handle: async ({ store, audit }, { grant_id }) => {
      // Refusals are written in the background.
      await beforeDeadline(audit.flush());
      return reportGrant(store, grant_id);
    },
  },
};
