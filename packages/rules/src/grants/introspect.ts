import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import type { ErrorCode } from '@latchkey/schema';
import type { ApplicationAuthentication, GrantAuthentication } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { findActiveGrant, noteUse } from './authenticate-grant.ts';

const INACTIVE: ReadonlySet<ErrorCode> = new Set(['credentials_invalid', 'application_disabled']);

/** Counts as a use, which is on disk before this returns: the caller acts on the response. */
export async function introspect(
  service: Pick<Dependencies, 'store' | 'clock' | 'useNotes' | 'idleGrants'>,
  application: ApplicationAuthentication,
  token: string,
  initiator: Initiator,
): Promise<GrantAuthentication | null> {
  try {
    const found = await findActiveGrant(service, token, { grant_id: null, currentAccount: true });
    const isOwn = found.grant.application_id === application.id;
    if (!isOwn && !application.resource_server) return null;
    await noteUse(service, found, initiator);
    return found;
  } catch (error) {
    if (error instanceof DomainError && INACTIVE.has(error.code)) return null;
    throw error;
  }
}
