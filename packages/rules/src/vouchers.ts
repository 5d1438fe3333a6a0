import type { Claimed } from '@latchkey/domain/claimed';
import { mayClaim } from './claimed-name.ts';
import type { DocumentHosts } from './client-documents/hosts.ts';

/**
 * Who says what the service acts on: the operator, who registered or listed it, or a stranger
 * (`docs/protocol/clients.md#who-vouches`).
 */
export type Voucher = 'operator' | 'stranger';

/** An application; the operator registered it if it has no document. */
export interface Client {
  document: { uri: string } | null;
}

/** How a person is told which application it is. */
export interface Shown {
  vouched: boolean;
  /** The host of its address, if a stranger may not be called what it claims. */
  name: string;
  /** Of its address: who it is, since its name is a claim. Null for a registered application. */
  host: string | null;
}

declare const asked: unique symbol;

/** What it takes to fetch from an address, and to keep what was there. Only {@link Vouchers} makes it. */
export interface VouchedAddress {
  readonly address: string;
  readonly voucher: Voucher;
  readonly [asked]: true;
}

/**
 * What the settings and registrations of now say. Nothing may store an answer: the next start may differ.
 * Outside of the stores, a {@link Claimed} becomes a value only here, and where a redirect URI is compared.
 */
export interface Vouchers {
  ofClient(client: Client): Voucher;
  ofRedirectUri(redirect: Client & { redirect_uri: Claimed<string> }): {
    voucher: Voucher;
    redirect_uri: string;
  };
  /** Of a document, or of keys. */
  ofAddress(address: Claimed<string>): VouchedAddress;
  show<Application extends Client & { name: Claimed<string> }>(
    application: Application,
  ): Omit<Application, 'name'> & Shown;
}

/**
 * @param hosts - null: no document is taken
 * @param pageName - what no stranger may call itself
 */
export function createVouchers(hosts: DocumentHosts | null, pageName: string): Vouchers {
  const ofUri = (uri: string): Voucher => (hosts?.names(uri) ? 'operator' : 'stranger');
  const ofClient = ({ document }: Client): Voucher =>
    document === null ? 'operator' : ofUri(document.uri);
  return {
    ofClient,
    ofRedirectUri: (redirect) => {
      const voucher = ofClient(redirect);
      return { voucher, redirect_uri: openClaim(redirect.redirect_uri, voucher) };
    },
    ofAddress(claimed) {
      const address = claimed as string;
      return { address, voucher: ofUri(address) } as VouchedAddress;
    },
    show(application) {
      const voucher = ofClient(application);
      const claim = openClaim(application.name, voucher);
      const host = application.document && new URL(application.document.uri).hostname;
      const isShown = host === null || voucher === 'operator' || mayClaim(claim, pageName);
      return {
        ...application,
        vouched: voucher === 'operator',
        host,
        name: isShown ? claim : host,
      };
    },
  };
}

/** What a client says, for whoever knows who vouches for it. */
export const openClaim = <Value>(claim: Claimed<Value>, _voucher: Voucher): Value => claim as Value;
