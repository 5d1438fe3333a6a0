import type { SigningAlgorithm } from '@latchkey/store/records';
import { z } from 'zod';

interface KeyKind {
  kty: string;
  crv?: string;
}

/** The kind that fits (RFC 7518, section 3.1; RFC 8037). */
export const KINDS: Record<SigningAlgorithm, KeyKind> = {
  RS256: { kty: 'RSA' },
  PS256: { kty: 'RSA' },
  ES256: { kty: 'EC', crv: 'P-256' },
  EdDSA: { kty: 'OKP', crv: 'Ed25519' },
  Ed25519: { kty: 'OKP', crv: 'Ed25519' },
};

export const isOfKind = (key: { kty?: unknown; crv?: unknown }, { kty, crv }: KeyKind): boolean =>
  key.kty === kty && (crv === undefined || key.crv === crv);

/** Of an RSA key, whose owner chooses what a verification costs us. */
export const RSA_BITS = { least: 2_048, most: 4_096 };
const EXPONENTS = new Set([3n, 65_537n]);

/** Of objects: 64 KiB have room for 800 keys that could be used, or for many thousands that only cost time. */
const KEYS_READ = 1_000;

const text = z.string().exactOptional();
// Unlike a check of zod's, it throws no error for each key of a stranger: that took 25 ms for 1,000.
const number = z
  .string()
  .regex(/^[\w-]*$/)
  .exactOptional();
// Unlike an array of zod's, it stops at the first fault.
const texts = z.custom<string[]>(
  (value) => Array.isArray(value) && value.every((one) => typeof one === 'string'),
);

/** Only the members that are read (RFC 7517, section 4; RFC 7518, section 6). */
const publicKey = z
  .object({
    ...{ kty: text, kid: text, alg: text, use: text, crv: text, x: text, y: text },
    ...{ n: number, e: number, key_ops: texts.exactOptional() },
  })
  .refine(({ kty, n = '', e = '' }) => kty !== 'RSA' || isBounded(numberOf(n), numberOf(e)));

export type PublicKey = z.output<typeof publicKey>;

/** RFC 7518, section 2. */
const numberOf = (text: string) => BigInt(`0x0${Buffer.from(text, 'base64url').toString('hex')}`);

function isBounded(modulus: bigint, exponent: bigint): boolean {
  const bits = modulus.toString(2).length;
  return bits >= RSA_BITS.least && bits <= RSA_BITS.most && EXPONENTS.has(exponent);
}

// RFC 7518, sections 6.2.2, 6.3.2 and 6.4.1.
const SECRET_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Whether nobody but its owner should have it. */
export const isSecret = (key: unknown): boolean =>
  isObject(key) && (key.kty === 'oct' || SECRET_MEMBERS.some((name) => name in key));

// One that fits no algorithm is of no use, and of `{}` a document has room for thousands, which take 20 times as much memory.
const isOfAnyKind = (key: unknown): boolean =>
  isObject(key) && Object.values(KINDS).some((kind) => isOfKind(key, kind));

/** Those of a set that can be used. The others are passed over. */
export const publicKeys = (keys: readonly unknown[]): PublicKey[] =>
  keys
    .filter((key) => isOfAnyKind(key) && !isSecret(key))
    .slice(0, KEYS_READ)
    .flatMap((key) => publicKey.safeParse(key).data ?? []);
