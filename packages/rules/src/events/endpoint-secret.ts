import { hkdfSync } from 'node:crypto';
import type { Milliseconds } from '@latchkey/domain/clock';
import type { KeyFingerprints } from '@latchkey/store/events-keys';

/** `EVENTS_KEY` and `EVENTS_KEY_PREVIOUS`. */
export interface EventsKeys {
  current: string;
  previous: string | null;
}

export interface EndpointSecretState {
  /** A UUID. */
  id: string;
  /** 1 for a new endpoint, one more with each rotation. */
  secret_version: number;
  /** Until then, the version before signs too; null without an overlap. */
  overlap_until: Milliseconds | null;
}

const PREFIX = 'whsec_';

/** `whsec_` and the base64 of 32 bytes, which are the key of the signatures. */
export function endpointSecret(key: string, endpointId: string, version: number): string {
  const salt = Buffer.from(endpointId.replaceAll('-', ''), 'hex');
  const bytes = hkdfSync('sha256', key, salt, `latchkey endpoint secret ${version}`, 32);
  return PREFIX + Buffer.from(bytes).toString('base64');
}

// They tell a wrong key from the right one. A guess that fits is nearly always a wrong one.
const FINGERPRINT_BYTES = 4;

/** What the database knows of the keys. No secret of an endpoint is derived in this way. */
export function fingerprintsOf({ current, previous }: EventsKeys): KeyFingerprints {
  const fingerprint = (key: string) => {
    const bytes = hkdfSync('sha256', key, '', 'latchkey events key fingerprint', FINGERPRINT_BYTES);
    return Buffer.from(bytes).toString('hex');
  };
  return { current: fingerprint(current), previous: previous && fingerprint(previous) };
}

/** The key of the signatures that a secret of {@link endpointSecret} stands for. */
export function signingKeyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(PREFIX.length), 'base64');
}

/** The secrets that sign a message at this moment. The first is the newest one. */
export function goodSecrets(
  { current, previous }: EventsKeys,
  { id, secret_version, overlap_until }: EndpointSecretState,
  now: Milliseconds,
): string[] {
  const keys = previous === null ? [current] : [current, previous];
  const isOverlap = overlap_until !== null && now < overlap_until;
  const versions = isOverlap ? [secret_version, secret_version - 1] : [secret_version];
  return keys.flatMap((key) => versions.map((version) => endpointSecret(key, id, version)));
}
