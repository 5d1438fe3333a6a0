import { uris } from '@latchkey/schema';

/** The private-use schemes that strangers may use, each with whether a URI may have a query of its own. */
export type ClientSchemes = ReadonlyMap<string, boolean>;

/** Of editors and chat programs that take a code at such an address. */
const SHIPPED = ['cursor', 'vscode', 'vscode-insiders', 'windsurf', 'claude', 'zed', 'kiro'];

const SCHEME = /^([a-z][a-z0-9+.-]*)(\?)?$/;

/** The setting CLIENT_SCHEMES; undefined for anything else. */
export function parseClientSchemes(text: string): ClientSchemes | undefined {
  if (text === 'none') return new Map();
  const schemes = new Map<string, boolean>();
  const allow = (scheme: string, allowsQuery: boolean) =>
    schemes.set(scheme, allowsQuery || schemes.get(scheme) === true);
  for (const item of text.split(',')) {
    if (item === 'default') {
      for (const scheme of SHIPPED) allow(scheme, false);
      continue;
    }
    const [, scheme = '', query] = SCHEME.exec(item) ?? [];
    const isWord = scheme === 'default' || scheme === 'none';
    if (isWord || !uris.isPrivateUseScheme(scheme)) return undefined;
    allow(scheme, query !== undefined);
  }
  return schemes;
}

/** A page shows all of it: `docs/protocol/limits.md`. */
export const MAX_SHOWN_HOST = 60;

/** Whether a document may name it as its redirect URI. `all`: the operator vouches for the document. */
export function mayRedirectTo(uri: unknown, schemes: ClientSchemes | 'all'): uri is string {
  const { success, data } = uris.redirectUri.safeParse(uri);
  if (!success) return false;
  const parts = uris.splitUri(data);
  if (parts === null) return false;
  if (schemes === 'all') return true;
  const { scheme, host, query } = parts;
  if (scheme === 'https') return isShownAsItIs(data, host);
  if (uris.isLoopback(parts)) return true;
  const allowsQuery = schemes.get(scheme);
  // Editors open the file of `vscode://file/…`. A query can hold a command, as in `vscode://vscode.git/clone?url=…`.
  return allowsQuery !== undefined && host !== 'file' && (query === undefined || allowsQuery);
}

/** A page shows the host as it is written, and a browser goes to 127.0.0.1 for `2130706433`. */
const isShownAsItIs = (uri: string, host: string | null) =>
  host !== null && host.length <= MAX_SHOWN_HOST && new URL(uri).hostname === host.toLowerCase();
