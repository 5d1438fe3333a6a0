import { convert } from '../grants/convert.ts';
import { recover } from '../grants/recover.ts';
import { revoke } from '../grants/revoke.ts';
import type { Handlers } from './handler.ts';
import { toFullGrant, toRevokedGrant } from './wire.ts';

/** What an application does with codes and grants. */
export const grantHandlers: Handlers<'grants.convert' | 'grants.revoke' | 'grants.recover'> = {
  'grants.convert': async (service, { code }, application) =>
    toFullGrant(await convert(service, application.id, code)),
  'grants.revoke': async (service, { grant_id }, application) =>
    toRevokedGrant(await revoke(service, application.id, grant_id)),
  'grants.recover': async (service, { grant_id }, application) =>
    toFullGrant(await recover(service, application.id, grant_id)),
};
