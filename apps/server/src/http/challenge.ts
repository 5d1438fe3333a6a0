import type { DomainError } from '../domain-error.ts';
import type { Linking } from '../service.ts';

/** Under the public URL, where the metadata of the resource `/v1` is (RFC 9728, section 3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/v1';

/** How a caller is told to authenticate (RFC 9110, section 11.6.1). */
export interface Challenge {
  readonly scheme: 'Bearer' | 'Basic';
  /** Where the metadata of the resource is (RFC 9728, section 5.1). Default: there is none. */
  readonly resourceMetadata?: string;
}

/** The challenge on the routes of grants: with the linking flow on, it says where the metadata is. */
export function resourceChallenge(linking: Linking | null): Challenge {
  if (linking === null) return bearerChallenge;
  const resourceMetadata = linking.publicUrl + RESOURCE_METADATA_PATH;
  return { scheme: 'Bearer', resourceMetadata };
}

export const bearerChallenge: Challenge = { scheme: 'Bearer' };
export const basicChallenge: Challenge = { scheme: 'Basic' };

/** The value of `WWW-Authenticate` for an error; undefined if the error asks for no credentials. */
export function challengeFor(error: DomainError, challenge: Challenge | null): string | undefined {
  if (challenge === null) return undefined;
  const isInvalid = error.code === 'credentials_invalid';
  if (error.code !== 'credentials_missing' && !isInvalid) return undefined;
  const { scheme, resourceMetadata } = challenge;
  const parameters = ['realm="latchkey"'];
  // A parameter of Bearer alone (RFC 6750, section 3).
  if (isInvalid && scheme === 'Bearer') parameters.push('error="invalid_token"');
  if (resourceMetadata !== undefined) parameters.push(`resource_metadata="${resourceMetadata}"`);
  return `${scheme} ${parameters.join(', ')}`;
}
