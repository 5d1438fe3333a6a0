import { type Response, send } from './http/connection.ts';
import { jsonOf, kindOf } from './http/json.ts';

/** A server's metadata (RFC 8414, section 2), as it came. */
export type Metadata = Readonly<Record<string, unknown>>;

/**
 * An endpoint; null if there is none.
 *
 * @throws Error if it is no URL
 */
export function endpointOf(metadata: Metadata, name: `${string}_endpoint`): URL | null {
  const value = metadata[name] ?? null;
  if (value === null) return null;
  if (typeof value === 'string' && URL.canParse(value)) return new URL(value);
  throw new Error(`${name} of the metadata is no whole URL. Give the address by an option.`);
}

/** The two places where it can be: of OAuth (RFC 8414, 3.1), and of OpenID Connect Discovery. */
function placesFor(issuer: URL): URL[] {
  const path = issuer.pathname.replace(/\/$/, '');
  return [
    new URL(`/.well-known/oauth-authorization-server${path}`, issuer),
    new URL(`${path}/.well-known/openid-configuration`, issuer),
  ];
}

/** @throws Error if the server has none, or that of another issuer */
export async function readMetadata(issuer: string, timeout: number): Promise<Metadata> {
  const seen: string[] = [];
  for (const url of placesFor(new URL(issuer))) {
    const response: Response = await send(
      { url, headers: { accept: 'application/json' } },
      timeout,
    );
    const metadata = response.status === 200 ? jsonOf(response) : null;
    if (metadata === null) {
      seen.push(`${url.pathname}: ${kindOf(response)}`);
      continue;
    }
    if (metadata.issuer !== issuer) {
      throw new Error(
        `The metadata is that of another issuer: ${metadata.issuer}. Pass --issuer exactly as it is there.`,
      );
    }
    return metadata;
  }
  throw new Error(
    `The server has no metadata (${seen.join('; ')}). Give the addresses by options.`,
  );
}
