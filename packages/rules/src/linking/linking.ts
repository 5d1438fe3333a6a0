import type { Store } from '@latchkey/store/store';
import type { ClientDocuments } from '../client-documents/client-documents.ts';
import type { Pins } from '../client-documents/pins.ts';
import type { RegisteredClients } from '../registration/registered-clients.ts';
import { createVouchers, type Vouchers } from '../vouchers.ts';

export interface Linking {
  publicUrl: string;
  signInUrl: string;
  vouchers: Vouchers;
  /** The next two are null if CLIENT_DOCUMENTS is off. */
  clientDocuments: ClientDocuments | null;
  pins: Pins | null;
  registeredClients: RegisteredClients;
}

// Without the linking flow, no document is taken, and nobody registers.
const ofRegistrationAlone = createVouchers(null, '');

export const vouchersOf = ({ linking }: { linking: Linking | null }): Vouchers =>
  linking?.vouchers ?? ofRegistrationAlone;

export function linkingOf({ linking }: { linking: Linking | null }): Linking {
  if (linking === null) throw new Error('The linking flow is off: SIGN_IN_URL is not set.');
  return linking;
}

/** To be called before vouchers are asked: another process may have pinned a document, or unpinned it. */
export async function readPins({
  store,
  linking,
}: {
  store: Pick<Store, 'listPinned'>;
  linking: Pick<Linking, 'pins' | 'clientDocuments'> | null;
}): Promise<void> {
  const unpinned = (await linking?.pins?.read(store)) ?? [];
  for (const address of unpinned) linking?.clientDocuments?.forget(address);
}
