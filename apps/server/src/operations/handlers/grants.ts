import { recover } from '../../grants/recover.ts';
import { redeem } from '../../grants/redeem.ts';
import { revoke } from '../../grants/revoke.ts';
import type { Handlers } from '../handler.ts';
import { toFullGrant, toRevokedGrant } from '../wire.ts';

export const grantHandlers: Handlers<'grants.convert' | 'grants.revoke' | 'grants.recover'> = {
  'grants.convert': async (service, { code }, { application }, origin) =>
    toFullGrant(await redeem(service, application.id, code, origin)),
  'grants.revoke': async (service, { grant_id }, { application }, origin) =>
    toRevokedGrant(await revoke(service, application.id, grant_id, origin)),
  'grants.recover': async (service, { grant_id }, { application }, origin) =>
    toFullGrant(await recover(service, application.id, grant_id, origin)),
};
