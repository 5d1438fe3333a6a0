import { mintCredential } from '@latchkey/domain/credentials/credentials';
import type { Initiator } from '@latchkey/domain/initiator';
import type { Dependencies } from '../dependencies.ts';
import {
  type LinkAccess,
  readAgain,
  refuseDecided,
  refuseExpired,
  refuseLost,
} from './link-access.ts';
import { linkingOf } from './linking.ts';
import { type Location, signInLocation } from './redirect.ts';

/** The host gets a new link, and its earlier one stops working. */
export async function switchAccount(
  service: Pick<Dependencies, 'store' | 'clock' | 'linking'>,
  access: LinkAccess<{ page_id: string }>,
  initiator: Initiator,
): Promise<{ redirect_to: Location }> {
  const { link, holder } = access;
  refuseDecided(link);
  refuseExpired(service, link, initiator);
  const { credential, hash } = mintCredential('link', link.id);
  const switched = await service.store.switchLink({
    link_id: link.id,
    page_id: holder.page_id,
    link_hash: hash,
    now: service.clock(),
    initiator,
  });
  if (switched === null) return refuseLost(service, await readAgain(service, access), initiator);
  const redirect_to = signInLocation(linkingOf(service), {
    link: credential,
    prompt: 'select_account',
  });
  return { redirect_to };
}
