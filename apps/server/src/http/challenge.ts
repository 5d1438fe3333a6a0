import type { DomainError } from '@latchkey/domain/domain-error';
import type { Linking } from '@latchkey/rules/linking/linking';

/** The metadata of the resource `/v1`, under PUBLIC_URL (RFC 9728, section 3.1). */
export const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/v1';

export interface Challenge {
  readonly scheme: 'Bearer' | 'Basic';
  readonly resourceMetadata?: string;
}

export function resourceChallenge(linking: Linking | null): Challenge {
  if (linking === null) return bearerChallenge;
  const resourceMetadata = linking.publicUrl + RESOURCE_METADATA_PATH;
  return { scheme: 'Bearer', resourceMetadata };
}

export const bearerChallenge: Challenge = { scheme: 'Bearer' };
export const basicChallenge: Challenge = { scheme: 'Basic' };

export function challengeFor(error: DomainError, challenge: Challenge | null): string | undefined {
  if (challenge === null) return undefined;
  const isInvalid = error.code === 'credentials_invalid';
  if (error.code !== 'credentials_missing' && !isInvalid) return undefined;
  const { scheme, resourceMetadata } = challenge;
  const parameters = ['realm="latchkey"'];
  // Only Bearer has this parameter (RFC 6750, section 3).
  if (isInvalid && scheme === 'Bearer') parameters.push('error="invalid_token"');
  if (resourceMetadata !== undefined) parameters.push(`resource_metadata="${resourceMetadata}"`);
  return `${scheme} ${parameters.join(', ')}`;
}
