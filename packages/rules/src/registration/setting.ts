import { uris } from '@latchkey/schema';
import { isWrittenPlainly } from '../client-documents/address.ts';
import { hasTwoLabels } from '../client-documents/hosts.ts';

/** The setting CLIENT_REGISTRATION, unless it is `off`. */
export interface RegistrationSetting {
  /** Whether it lists an `https:` redirect URI, whole or by its host. */
  lists(uri: string): boolean;
  /** The hosts and the redirect URIs. */
  readonly listed: readonly string[];
}

/** Undefined for anything that is no such setting. */
export function parseRegistration(text: string): RegistrationSetting | undefined {
  const listed = new Set<string>();
  for (const item of text.split(',')) {
    if (item === 'on') continue;
    const host = item.toLowerCase();
    if (isWebRedirectUri(item)) listed.add(item);
    else if (hasTwoLabels(host) && isWrittenPlainly(host)) listed.add(host);
    else return undefined;
  }
  return {
    listed: [...listed],
    lists(uri) {
      const { scheme, host = null } = uris.splitUri(uri) ?? {};
      return scheme === 'https' && host !== null && (listed.has(uri) || listed.has(host));
    },
  };
}

const isWebRedirectUri = (text: string): boolean =>
  uris.redirectUri.safeParse(text).success && uris.splitUri(text)?.scheme === 'https';
