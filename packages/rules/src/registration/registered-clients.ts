import { decodeJson } from '@latchkey/domain/decode-json';
import { DomainError } from '@latchkey/domain/domain-error';
import { fields, uris } from '@latchkey/schema';
import { z } from 'zod';
import { mayClaim } from '../claimed-name.ts';
import { MAX_CLIENT_ID } from '../client-documents/address.ts';
import type { ClientDocument } from '../client-documents/document.ts';
import { type ClientSchemes, mayRedirectTo } from '../client-documents/redirect-uris.ts';
import { withoutPort } from '../linking/match-redirect-uri.ts';
import { percentDecode } from '../percent-decode.ts';
import type { RegistrationSetting } from './setting.ts';

/** What is behind PUBLIC_URL before the last segment of such a `client_id`. */
export const CLIENTS_PATH = '/oauth/clients';

export interface AskedRegistration {
  client_name?: unknown;
  redirect_uris: string[];
}

export interface RegisteredClient {
  client_id: string;
  /** Null if there is none, or pages may not say it. */
  client_name: string | null;
  redirect_uris: string[];
}

export interface RegisteredClientsOptions {
  publicUrl: string;
  /** Null: nobody registers. */
  setting: RegistrationSetting | null;
  /** Of CLIENT_SCHEMES. */
  schemes: ClientSchemes;
  pageName: string;
}

/**
 * Clients that register themselves (RFC 7591). Nothing is kept of them: the address that each gets as its
 * `client_id` has all that it says, and anybody can make one.
 */
export function createRegisteredClients({
  publicUrl,
  setting,
  schemes,
  pageName,
}: RegisteredClientsOptions) {
  const start = `${publicUrl}${CLIENTS_PATH}/`;
  const { origin, pathname } = new URL(publicUrl + CLIENTS_PATH);
  const depth = pathname.split('/').length;
  /** Percent-encoded or not, it is one path. */
  const startOf = (path: string) =>
    path
      .split(/\/|%2f/i)
      .slice(0, depth)
      .map(percentDecode)
      .join('/');

  function isTaken(uri: string): boolean {
    if (!uris.redirectUri.safeParse(uri).success) return false;
    const isWeb = uris.splitUri(uri)?.scheme === 'https';
    return isWeb ? (setting?.lists(uri) ?? false) : mayRedirectTo(uri, schemes);
  }

  function nameIn(client_name: unknown): string | null {
    const { data } = fields.text.safeParse(client_name);
    return data !== undefined && mayClaim(data, pageName) ? data : null;
  }

  /** What is taken here: for the developers of a client whose redirect URIs are not. */
  function inWords(): string {
    const named = [...schemes.keys()].map((scheme) => `${scheme}:`);
    const listed = setting?.listed ?? [];
    return [
      'Taken here: http: on 127.0.0.1, [::1] or localhost',
      named.length > 0 && `the schemes ${named.join(', ')}`,
      listed.length > 0 && `https: at ${listed.join(', ')}`,
    ]
      .filter(Boolean)
      .join('; ');
  }

  return {
    isOn: setting !== null,

    /** Whether an address is below {@link CLIENTS_PATH}, however it is written: there is nothing to fetch. */
    isOwn(address: string): boolean {
      if (!URL.canParse(address)) return false;
      const url = new URL(address);
      return url.origin === origin && startOf(url.pathname) === startOf(pathname);
    },

    /** What a `client_id` says, as far as the settings take it now; null if they take nothing of it. */
    find(client_id: string): RegisteredClient | null {
      if (setting === null || client_id.length > MAX_CLIENT_ID) return null;
      const said = client_id.startsWith(start) ? read(client_id.slice(start.length)) : null;
      const redirect_uris = said?.redirect_uris.filter(isTaken) ?? [];
      if (redirect_uris.length === 0) return null;
      return { client_id, client_name: nameIn(said?.client_name), redirect_uris };
    },

    /** Writes nothing. @throws DomainError */
    register({ client_name, redirect_uris }: AskedRegistration): RegisteredClient {
      const taken = redirect_uris.filter(isTaken);
      if (taken.length === 0) throw new RedirectUrisRefused(inWords());
      const name = nameIn(client_name);
      const client_id = start + write({ client_name: name ?? undefined, redirect_uris: taken });
      if (client_id.length > MAX_CLIENT_ID) {
        const message = `Must be fewer or shorter: with the name, they would make a client_id of ${client_id.length} characters, and it has at most ${MAX_CLIENT_ID}.`;
        throw new DomainError('registration_invalid', {
          issues: [{ path: ['redirect_uris'], message }],
        });
      }
      return { client_id, client_name: name, redirect_uris: taken };
    },
  };
}

export type RegisteredClients = ReturnType<typeof createRegisteredClients>;

/** As if it were the document at its address. */
export const documentOf = ({
  client_id,
  client_name,
  redirect_uris,
}: RegisteredClient): ClientDocument => ({
  uri: client_id,
  in_address: true,
  name: client_name ?? '',
  redirect_uris,
  ...{ homepage_uri: null, policy_uri: null, tos_uri: null, scope: null },
  ...{ method: 'none', jwks_uri: null, keys: null, signing_alg: null },
});

const form = z.object({
  client_name: z.string().optional(),
  redirect_uris: z.array(uris.redirectUri).min(1).max(uris.MOST_REDIRECT_URIS),
});

type Said = z.output<typeof form>;

/** In one way only, so that a program has the same `client_id` on every device. */
function write({ client_name, redirect_uris }: Said): string {
  const distinct = new Set(redirect_uris.map(withoutPort));
  // All are ASCII: this is the order of code points.
  const said = { client_name: client_name?.normalize('NFC'), redirect_uris: [...distinct].sort() };
  return Buffer.from(JSON.stringify(said)).toString('base64url');
}

/** Null for what {@link write} does not write. */
function read(segment: string): Said | null {
  let value: unknown;
  try {
    const bytes = Buffer.from(segment, 'base64url');
    value = decodeJson(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
  const { data } = form.safeParse(value);
  return data !== undefined && write(data) === segment ? data : null;
}

class RedirectUrisRefused extends DomainError {
  constructor(taken: string) {
    super('registration_redirect_refused');
    this.message = `${this.message} ${taken}.`;
  }
}
