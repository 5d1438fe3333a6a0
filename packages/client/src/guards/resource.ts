import { resourceAddress } from '@latchkey/schema';

/**
 * A resource as the service stores and compares it.
 *
 * @throws TypeError if it can't be one: a guard that ignored it would accept grants that are for none
 */
export function resourceOf(resource: unknown): string {
  const address = typeof resource === 'string' ? resourceAddress(resource) : null;
  if (address !== null) return address;
  throw new TypeError(
    'resource must be the address that is registered for this server, such as "https://mcp.example.com/mcp": https, or http on a loopback host, without a query and a fragment. To accept grants that are for no resource, leave resource out.',
  );
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/**
 * Where the metadata of a resource is: the well-known path goes before its own (RFC 9728, section 3.1).
 *
 * @param resource - from {@link resourceOf}
 */
export const metadataAddress = (resource: string): string =>
  resource.replace(/^\w+:\/\/[^/]+/, `$&${WELL_KNOWN}`);
