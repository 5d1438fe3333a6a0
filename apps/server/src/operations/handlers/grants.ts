import { DomainError } from '@latchkey/domain/domain-error';
import { endReplacedGrants } from '@latchkey/rules/grants/end-replaced-grants';
import { introspect } from '@latchkey/rules/grants/introspect';
import { recover } from '@latchkey/rules/grants/recover';
import { redeem } from '@latchkey/rules/grants/redeem';
import { revoke } from '@latchkey/rules/grants/revoke';
import { revokeToken } from '@latchkey/rules/grants/revoke-token';
import { resourcesMeant } from '@latchkey/rules/resources/find-resource';
import type { Handlers } from '../handler.ts';
import { toFullGrant, toIntrospection, toRevokedGrant } from '../wire.ts';

export const grantHandlers: Handlers<Extract<keyof Handlers, `grants.${string}`>> = {
  'grants.convert': async (service, request, { application }, initiator, { publicUrl }) => {
    const { resource } = request;
    const resources =
      resource === undefined ? null : await resourcesMeant(service.store, resource, publicUrl());
    const redeemed = await redeem(service, application, { ...request, resources }, initiator);
    const most = application.grants_per_account;
    if (most !== null) await endReplacedGrants(service, redeemed.grant, most, initiator);
    return toFullGrant(redeemed);
  },
  'grants.revoke': async (service, { grant_id }, { application, secret_id }, initiator) => {
    // Anybody can call in the name of a public application, so it must show the secret of the
    // grant. Its credentials are right all the same.
    if (secret_id === null) {
      throw DomainError.invalid(['grant_id'], 'A public application has to send token instead.');
    }
    return toRevokedGrant(await revoke(service, application.id, grant_id, initiator));
  },
  'grants.revokeToken': async (service, { token }, { application }, initiator, details) => {
    const revoked = await revokeToken(service, application.id, token, initiator);
    // Only of a grant that it ended: a made-up token can contain the id of any grant.
    if (revoked !== null) details.ids.grant_id = revoked.grant_id;
    else details.countFruitless();
    return {};
  },
  'grants.introspect': async (service, { token }, { application }, initiator, { publicUrl }) =>
    toIntrospection(await introspect(service, application, token, initiator), publicUrl()),
  'grants.recover': async (service, { grant_id }, { application }, initiator) =>
    toFullGrant(await recover(service, application.id, grant_id, initiator)),
};
