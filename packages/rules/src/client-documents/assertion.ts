import type { Milliseconds } from '@latchkey/domain/clock';
import { decodeJson } from '@latchkey/domain/decode-json';
import { DomainError } from '@latchkey/domain/domain-error';
import type { SigningAlgorithm } from '@latchkey/store/records';
import { compactVerify, importJWK } from 'jose';
import { z } from 'zod';
import { openClaim, type Voucher } from '../vouchers.ts';
import type { ClientKeys } from './client-documents.ts';
import { isNoResponse } from './kept-responses.ts';
import { isOfKind, KINDS, type PublicKey } from './keys.ts';

export const MAX_ASSERTION_LENGTH = 8_192;
export const MAX_AUDIENCES = 10;
/** Whoever published the keys can send any number of assertions, and each key costs a verification. */
export const KEYS_TRIED = 8;
/** Of an assertion without `kid`, which more keys fit. */
export const KEYS_TRIED_WITHOUT_KID = 4;
const LONGEST_LIFE = 600;
const CLOCK_TOLERANCE = 60;

const header = z.object({
  alg: z.string(),
  kid: z.string().optional(),
  crit: z.unknown().optional(),
});

const claims = z.object({
  iss: z.string(),
  sub: z.string(),
  aud: z.string().or(z.array(z.string()).min(1).max(MAX_AUDIENCES)),
  exp: z.number(),
  nbf: z.number().optional(),
  iat: z.number().optional(),
});

/** What was sent. Nothing of it is verified. */
export interface Assertion {
  jwt: string;
  header: z.output<typeof header>;
  claims: z.output<typeof claims>;
}

/** @throws DomainError with the reason `assertion_ill_formed` */
export function readAssertion(jwt: string): Assertion {
  const parts = jwt.length > MAX_ASSERTION_LENGTH ? [] : jwt.split('.');
  try {
    const [first, second] = parts.map((part) => Buffer.from(part, 'base64url').toString());
    if (parts.length === 3 && first !== undefined && second !== undefined) {
      return {
        jwt,
        header: header.parse(decodeJson(first)),
        claims: claims.parse(decodeJson(second)),
      };
    }
  } catch {}
  throw DomainError.because('assertion_ill_formed');
}

const isTaken = (alg: string): alg is SigningAlgorithm => Object.hasOwn(KINDS, alg);
const isSameAlgorithm = (a: string, b: string) => a === b || (isEdwards(a) && isEdwards(b));
const isEdwards = (alg: string) => alg === 'EdDSA' || alg === 'Ed25519';

export interface Expected {
  /** Of the client: its iss and its sub. */
  address: string;
  /** The issuer, the token endpoint, and the endpoint that was called. */
  audiences: readonly string[];
  /** The only one; null for each that is taken. */
  signing_alg: SigningAlgorithm | null;
  /** For the client, and so for its keys. */
  voucher: Voucher;
  now: Milliseconds;
}

export type Verdict = 'valid' | 'invalid' | 'key_unknown' | 'keys_unavailable';

/**
 * Whether a client has signed an assertion (RFC 7523). What can be refused without its keys is. If the
 * key is not among those that are known, looks for new ones.
 */
export async function verifyAssertion(
  assertion: Assertion,
  keys: ClientKeys,
  expected: Expected,
): Promise<Verdict> {
  const { alg } = assertion.header;
  if (!isTaken(alg) || !isMeant(assertion, expected)) return 'invalid';
  const known = await keys.find().catch((error: unknown) => {
    if (isNoResponse(error)) return null;
    throw error;
  });
  if (known === null) return 'keys_unavailable';
  const { voucher } = expected;
  const verdict = await tryKeys(assertion, alg, openClaim(known, voucher));
  if (verdict !== 'key_unknown') return verdict;
  const latest = await keys.refresh();
  return latest === null ? verdict : tryKeys(assertion, alg, openClaim(latest, voucher));
}

function isMeant(
  { header: { alg, crit }, claims }: Assertion,
  { address, audiences, signing_alg, now }: Expected,
): boolean {
  if (crit !== undefined) return false;
  if (signing_alg !== null && !isSameAlgorithm(alg, signing_alg)) return false;
  const { iss, sub, aud, exp, nbf = 0, iat = 0 } = claims;
  const seconds = Math.floor(now / 1000);
  return (
    iss === address &&
    sub === address &&
    [aud].flat().some((one) => audiences.includes(one)) &&
    exp > seconds - CLOCK_TOLERANCE &&
    exp <= seconds + LONGEST_LIFE + CLOCK_TOLERANCE &&
    Math.max(nbf, iat) <= seconds + CLOCK_TOLERANCE
  );
}

async function tryKeys(
  { jwt, header: { kid } }: Assertion,
  alg: SigningAlgorithm,
  keys: readonly PublicKey[],
): Promise<Verdict> {
  const fitting = keys.filter((key) => fits(key, alg, kid));
  if (fitting.length === 0) return 'key_unknown';
  const tried = fitting.slice(0, kid === undefined ? KEYS_TRIED_WITHOUT_KID : KEYS_TRIED);
  for (const key of tried) if (await isSignedBy(key, alg, jwt)) return 'valid';
  return 'invalid';
}

function fits(key: PublicKey, alg: SigningAlgorithm, kid: string | undefined): boolean {
  if (!isOfKind(key, KINDS[alg])) return false;
  if (kid !== undefined && key.kid !== kid) return false;
  if (key.alg !== undefined && !isSameAlgorithm(key.alg, alg)) return false;
  if (key.use !== undefined && key.use !== 'sig') return false;
  return key.key_ops === undefined || key.key_ops.includes('verify');
}

async function isSignedBy(key: PublicKey, alg: SigningAlgorithm, jwt: string): Promise<boolean> {
  try {
    await compactVerify(jwt, await importJWK(key, alg), { algorithms: [alg] });
    return true;
  } catch {
    return false;
  }
}
