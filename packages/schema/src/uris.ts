import { z } from 'zod';
import { MAX_RESOURCE_LENGTH, resourceAddress } from './resource-address.ts';
import { isLoopback, splitUri, type UriParts } from './uri-parts.ts';

export { isLoopback, splitUri, type UriParts };

// Every JavaScript runtime has these (WHATWG URL). TypeScript knows them only with the types of one.
declare const URL: { canParse(text: string): boolean };
declare const URLSearchParams: new (query?: string) => { has(name: string): boolean };

// The URIs that an operator registers. They are stored and compared as they were written; only resources
// are normalized.

/** Like {@link splitUri}, but null also for a URI that browsers can't parse. */
function splitReadableUri(text: string): UriParts | null {
  const parts = splitUri(text);
  const isReadable = parts !== null && (parts.host === null || URL.canParse(text));
  return isReadable ? parts : null;
}

const isWeb = (parts: UriParts) =>
  isLoopback(parts) || (parts.scheme === 'https' && parts.host !== null);

// They run a script, read a file or open a program that expects no response.
const SCHEMES_OF_OTHERS: ReadonlySet<string> = new Set(
  [
    'http https javascript data vbscript file filesystem blob about view-source ws wss ftp sftp mailto tel',
    'sms intent content android-app chrome edge brave resource jar ms-msdt ms-search search-ms shell ssh',
    'telnet ldap ldaps smb itms itms-apps market facetime steam magnet webcal',
  ].flatMap((line) => line.split(' ')),
);

/** Whether an application may have it as its own scheme, given in lower case. */
export function isPrivateUseScheme(scheme: string): boolean {
  if (scheme.includes('.')) return true;
  return scheme !== '' && !SCHEMES_OF_OTHERS.has(scheme) && !scheme.endsWith('-extension');
}

/**
 * A scheme of an application's own has a dot in it, as RFC 8252, section 7.1, asks for. Many have none,
 * such as `cursor:`. They are taken if a host follows.
 */
const isPrivateUse = ({ scheme, host }: UriParts) =>
  isPrivateUseScheme(scheme) && (scheme.includes('.') || host !== null);

/** Of an application. */
export const MOST_REDIRECT_URIS = 20;

// The parameters that a response adds to the query. There must be one of each.
const ADDED_PARAMETERS = ['code', 'state', 'iss', 'error'];

function isRedirectUri(text: string): boolean {
  const parts = splitReadableUri(text);
  if (parts === null || parts.fragment !== undefined || text.includes('*')) return false;
  if (!isWeb(parts) && !isPrivateUse(parts)) return false;
  const query = new URLSearchParams(parts.query);
  return !ADDED_PARAMETERS.some((name) => query.has(name));
}

function isWebUri(text: string): boolean {
  const parts = splitReadableUri(text);
  return parts !== null && isWeb(parts);
}

/** A redirect URI. */
export const redirectUri = z
  .string()
  .min(1, 'Must be a redirect URI, such as https://app.example/callback.')
  .max(500, 'Must be at most 500 characters.')
  .refine(
    isRedirectUri,
    'Must be https:, http: on 127.0.0.1, [::1] or localhost, or a scheme of the application itself, such as com.example.app:/callback or example://callback; without user, fragment, asterisk, and code, state, iss or error in the query.',
  )
  .meta({ examples: ['https://app.example/callback'] });

/** A web page: `https:`, or `http:` on a loopback host. */
export const webUri = z
  .string()
  .max(500, 'Must be at most 500 characters.')
  .refine(
    isWebUri,
    'Must be an address that starts with https:, or with http: on 127.0.0.1, [::1] or localhost, without user.',
  )
  .meta({ examples: ['https://app.example/'] });

function isEndpointUrl(text: string): boolean {
  const parts = splitReadableUri(text);
  if (parts === null || parts.host === null || parts.fragment !== undefined) return false;
  return parts.scheme === 'https' || parts.scheme === 'http';
}

/** An address that is told of events. The service takes `http:` only if it was told to. */
export const endpointUrl = z
  .string()
  .min(1, 'Must be an address, such as https://app.example/latchkey-events.')
  .max(500, 'Must be at most 500 characters.')
  .refine(
    isEndpointUrl,
    'Must be an address that starts with https: and has a host, without user and fragment.',
  )
  .meta({ examples: ['https://app.example/latchkey-events'] });

/** A server that grants can be for, in the form of {@link resourceAddress}. */
export const resource = z
  .string()
  .min(1, 'Must be the address of a resource, such as https://mcp.example/mcp.')
  .max(MAX_RESOURCE_LENGTH, `Must be at most ${MAX_RESOURCE_LENGTH} characters.`)
  .refine(
    (text) => resourceAddress(text) !== null,
    'Must be an address that starts with https:, or with http: on 127.0.0.1, [::1] or localhost; without user, query, fragment, empty port, and empty segments or those of dots.',
  )
  .overwrite((text) => resourceAddress(text) ?? text)
  .meta({ examples: ['https://mcp.example/mcp'] });

const LOGO_DATA = /^data:image\/(?:png|webp|jpeg|gif|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;

function isLogoUri(text: string): boolean {
  if (text.startsWith('data:')) return text.length <= 8_192 && LOGO_DATA.test(text);
  const parts = splitReadableUri(text);
  return text.length <= 500 && parts?.scheme === 'https' && parts.host !== null;
}

/** An image. */
export const logoUri = z
  .string()
  .refine(
    isLogoUri,
    'Must be an address that starts with https: and has at most 500 characters, or data:image/(png|webp|jpeg|gif|svg+xml);base64, of at most 8192.',
  )
  .meta({ examples: ['https://app.example/logo.png'] });
