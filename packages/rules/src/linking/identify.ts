import { DomainError } from '@latchkey/domain/domain-error';
import type { Initiator } from '@latchkey/domain/initiator';
import type { ChoiceQuestion, CredentialHash, LinkRecord } from '@latchkey/store/records';
import type { Dependencies } from '../dependencies.ts';
import { refuseIfFull } from '../room.ts';
import { type LinkAccess, readAgain, refuseDecided, refuseLost } from './link-access.ts';
import { newPage } from './page-session.ts';

export interface Identified {
  account_id: string;
  locale: string | null;
  /** Whether the host asks the user itself. */
  own_page: boolean;
  /** What the page asks besides; null for nothing. */
  choice: ChoiceQuestion | null;
}

/** May be repeated: earlier pages no longer work. */
export async function identify(
  service: Pick<Dependencies, 'store' | 'clock' | 'room' | 'linking'>,
  access: LinkAccess<{ link_hash: CredentialHash }>,
  { account_id, locale, own_page, choice }: Identified,
  initiator: Initiator,
): Promise<{ link: LinkRecord; redirect_to: string | null }> {
  const { store, clock } = service;
  refuseDecided(access.link);
  if (!own_page) await refuseIfFull(service, account_id);
  const now = clock();
  const { id: link_id, expires_at } = access.link;
  const asked = { account_id, locale, choice, return_url: null };
  const about = { kind: 'consent', link_id, expires_at, ...asked } as const;
  const { page, url } = newPage(service, about, `/link/${link_id}`, now);
  const identified = { ...access.holder, page, own_page };
  const link = await store.identifyLink({ link_id, ...identified, now, initiator });
  if (link !== null) return { link, redirect_to: own_page ? null : url };
  if ((await store.findAccount(account_id)) === null) throw new DomainError('account_not_found');
  return refuseLost(service, await readAgain(service, access), initiator);
}
