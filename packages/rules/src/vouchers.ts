import type { DocumentHosts } from './client-documents/hosts.ts';

/**
 * Who says what the service acts on: the operator, who registered or listed it, or a stranger
 * (`docs/protocol/clients.md#who-vouches`).
 */
type Voucher = 'operator' | 'stranger';

/** An application; the operator registered it if it has no document. */
export interface Client {
  document: { uri: string } | null;
}

/** What the settings and registrations of now say. Nothing may store an answer: the next start may differ. */
export interface Vouchers {
  ofClient(client: Client): Voucher;
  ofRedirectUri(redirect: Client & { redirect_uri: string }): Voucher;
}

/** @param hosts - null: no document is taken */
export function createVouchers(hosts: DocumentHosts | null): Vouchers {
  const ofClient = ({ document }: Client): Voucher => {
    const isListed = document === null || hosts?.names(document.uri);
    return isListed ? 'operator' : 'stranger';
  };
  return { ofClient, ofRedirectUri: ofClient };
}
