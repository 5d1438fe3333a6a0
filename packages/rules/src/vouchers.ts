import type { Claimed } from '@latchkey/domain/claimed';
import { ownText } from '@latchkey/domain/own-text';
import type { RedirectKind } from '@latchkey/schema';
import type { DocumentedClient } from '@latchkey/store/records';
import { mayClaim } from './claimed-name.ts';
import type { DocumentHosts } from './client-documents/hosts.ts';
import { describeRedirect } from './linking/describe-redirect.ts';
import type { RegistrationSetting } from './registration/setting.ts';

/**
 * Who says what the service acts on: the operator, who registered or listed it, or a stranger
 * (`docs/protocol/clients.md#who-vouches`).
 */
export type Voucher = 'operator' | 'stranger';

/** An application; the operator registered it if it has no document. */
export interface Client {
  document: Pick<DocumentedClient, 'uri' | 'in_address'> | null;
}

/** What an application says of itself. */
interface Claims {
  name: Claimed<string>;
  redirect_uris: readonly Claimed<string>[];
}

/** How a person is told which application it is. */
export interface Shown {
  vouched: boolean;
  redirect_uris: string[];
  /** Its host, if a stranger may not be called what it claims. */
  name: string;
  /**
   * Who it is, since its name is a claim: the host of its address. If it registered itself, the host where it was
   * last led back to, or the scheme. Null for an application that the operator registered.
   */
  host: string | null;
  /** What it calls itself, if pages may say so. Null for an application that the operator registered. */
  claim: string | null;
  /** How it is led back to, if it registered itself and is on this device: then its host tells nothing about it. */
  device: Exclude<RedirectKind, 'web'> | null;
}

export type ShownAs<Application> = Omit<Application, keyof Claims> & Shown;

declare const asked: unique symbol;

/** What it takes to fetch from an address, and to keep what was there. Only {@link Vouchers} makes it. */
export interface VouchedAddress {
  readonly address: string;
  readonly voucher: Voucher;
  /** Whether the operator names the address itself, so that it may lead into the operator's network. */
  readonly isNamed: boolean;
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
  /** @param client - whose keys are there: they have its voucher. Default: it is that of a document */
  ofAddress(address: Claimed<string>, client?: Client): VouchedAddress;
  show<Application extends Client & Claims>(application: Application): ShownAs<Application>;
}

/**
 * @param hosts - null: no document is taken
 * @param pageName - what no stranger may call itself
 * @param registration - null: nobody registers
 */
export function createVouchers(
  hosts: Pick<DocumentHosts, 'names'> | null,
  pageName: string,
  registration: RegistrationSetting | null = null,
): Vouchers {
  const ofUri = (uri: string): Voucher => (hosts?.names(uri) ? 'operator' : 'stranger');
  const ofClient = ({ document }: Client): Voucher =>
    document === null ? 'operator' : document.in_address ? 'stranger' : ofUri(document.uri);
  return {
    ofClient,
    ofRedirectUri: (redirect) => {
      const redirect_uri = openClaim(redirect.redirect_uri, ofClient(redirect));
      const voucher = registration?.lists(redirect_uri) ? 'operator' : ofClient(redirect);
      return { voucher, redirect_uri };
    },
    ofAddress(claimed, client) {
      const address = ownText(claimed as string);
      const named = ofUri(address);
      const voucher = client === undefined ? named : ofClient(client);
      return { address, voucher, isNamed: named === 'operator' } as VouchedAddress;
    },
    show(application) {
      const voucher = ofClient(application);
      const said = openClaim(application.name, voucher);
      const { document } = application;
      const redirect_uris = application.redirect_uris as string[];
      const { host, device } = document === null ? REGISTERED : placeOf(document, redirect_uris);
      const mayBeSaid = voucher === 'operator' || mayClaim(said, pageName);
      // The host stands for the name in a document that has none.
      const isClaim = document !== null && (document.in_address || said !== host);
      const claim = mayBeSaid && isClaim ? said : null;
      return {
        ...application,
        vouched: voucher === 'operator',
        ...{ redirect_uris, host, device, claim },
        name: claim ?? host ?? said,
      };
    },
  };
}

const REGISTERED = { host: null, device: null };

function placeOf(
  { uri, in_address }: Pick<DocumentedClient, 'uri' | 'in_address'>,
  redirect_uris: readonly string[],
): Pick<Shown, 'host' | 'device'> {
  if (!in_address) return { host: new URL(uri).hostname, device: null };
  const { redirect_host, redirect_kind } = describeRedirect(redirect_uris.at(-1) as string);
  return { host: redirect_host, device: redirect_kind === 'web' ? null : redirect_kind };
}

/** What a client says, for whoever knows who vouches for it. */
export const openClaim = <Value>(claim: Claimed<Value>, _voucher: Voucher): Value => claim as Value;
