import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import { TICKET_LIFETIME } from '@latchkey/domain/lifetimes';
import type { Dependencies } from '../dependencies.ts';
import { refuseIfFull } from '../room.ts';
import { type NewPage, newPage } from './page-session.ts';

export async function createConnectionsPage(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'linking'>,
  request: { account_id: string; return_url: string | null; locale: string | null },
  initiator: Initiator,
): Promise<NewPage> {
  await refuseIfFull(service, request.account_id);
  const now = service.clock();
  // It lives longer once it is opened.
  const about = { kind: 'connections', link_id: null, choice: null } as const;
  const expires_at = now + TICKET_LIFETIME;
  const made = newPage(service, { ...about, expires_at, ...request }, '/connections', now);
  const kept = await service.store.createPage({ ...made.page, initiator });
  if (kept === null) throw new DomainError('account_not_found');
  return made;
}
