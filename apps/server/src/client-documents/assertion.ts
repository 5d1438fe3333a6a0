import { decodeProtectedHeader, importJWK, type JWK, jwtVerify } from 'jose';
import type { Milliseconds } from '../clock.ts';
import type { SigningAlgorithm } from '../store/records.ts';

const MAX_ASSERTION_LENGTH = 8_192;
const LONGEST_LIFE = 600;
// A set of 64 KiB has room for 300 keys, and whoever published it can send any number of assertions.
const KEYS_TRIED = 16;
const CLOCK_TOLERANCE = 60;

/** The key types that fit (RFC 7518, section 3.1; RFC 8037). */
const ALGORITHMS: Record<SigningAlgorithm, { kty: string; crv?: string }> = {
  RS256: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
};

const isSameAlgorithm = (a: string, b: string) => a === b || (isEdwards(a) && isEdwards(b));
const isEdwards = (alg: string) => alg === 'EdDSA' || alg === 'Ed25519';

export interface Expected {
  /** Of the client: its iss and its sub. */
  address: string;
  /** The issuer, the token endpoint, and the endpoint that was called. */
  audiences: readonly string[];
  /** The only one; null for each that is taken. */
  signing_alg: SigningAlgorithm | null;
  now: Milliseconds;
}

export type Verdict = 'valid' | 'invalid' | 'key_unknown';

/**
 * Whether a client has signed an assertion (RFC 7523). If its key is not among these, newer keys may
 * have it.
 */
export async function verifyAssertion(
  assertion: string,
  keys: readonly JWK[],
  expected: Expected,
): Promise<Verdict> {
  const header = headerOf(assertion);
  if (header === null) return 'invalid';
  const { alg, kid } = header;
  if (expected.signing_alg !== null && !isSameAlgorithm(alg, expected.signing_alg))
    return 'invalid';
  const fitting = keys.filter((key) => fits(key, alg, kid));
  if (fitting.length === 0) return 'key_unknown';
  for (const key of fitting.slice(0, KEYS_TRIED)) {
    if (await isSignedBy(key, alg, assertion, expected)) return 'valid';
  }
  return 'invalid';
}

function headerOf(assertion: string): { alg: SigningAlgorithm; kid: unknown } | null {
  if (assertion.length > MAX_ASSERTION_LENGTH) return null;
  try {
    const { alg = '', kid, crit } = decodeProtectedHeader(assertion);
    if (crit !== undefined || !Object.hasOwn(ALGORITHMS, alg)) return null;
    return { alg: alg as SigningAlgorithm, kid };
  } catch {
    return null;
  }
}

function fits(key: JWK, alg: SigningAlgorithm, kid: unknown): boolean {
  const { kty, crv } = ALGORITHMS[alg];
  if (key.kty !== kty || (crv !== undefined && key.crv !== crv)) return false;
  if (kid !== undefined && key.kid !== kid) return false;
  if (key.alg !== undefined && !isSameAlgorithm(key.alg, alg)) return false;
  if (key.use !== undefined && key.use !== 'sig') return false;
  return key.key_ops === undefined || key.key_ops.includes('verify');
}

async function isSignedBy(
  key: JWK,
  alg: SigningAlgorithm,
  assertion: string,
  { address, audiences, now }: Expected,
): Promise<boolean> {
  try {
    // jose refuses RSA keys of less than 2,048 bits.
    const { payload } = await jwtVerify(assertion, await importJWK(key, alg), {
      algorithms: [alg],
      issuer: address,
      subject: address,
      audience: [...audiences],
      clockTolerance: CLOCK_TOLERANCE,
      currentDate: new Date(now),
    });
    const seconds = Math.floor(now / 1000) + CLOCK_TOLERANCE;
    const { exp = Number.POSITIVE_INFINITY, iat = 0 } = payload;
    return exp <= seconds + LONGEST_LIFE && iat <= seconds;
  } catch {
    return false;
  }
}
