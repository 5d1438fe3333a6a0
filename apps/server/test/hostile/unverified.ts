import fc from 'fast-check';
import { unsigned } from '../client-documents/signing-client.ts';

// What strangers write: nearly always right but for a member or two.

const anything = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(5, null, true, '', [], {}, ['x', 5], { toString: 'x' }, 1e308, -0),
  fc.string({ unit: 'binary', maxLength: 20 }),
);

/** An object, of which some members are missing, and some are anything. */
export const nearly = (right: Record<string, unknown>): fc.Arbitrary<Record<string, unknown>> =>
  fc
    .dictionary(fc.constantFrom(...Object.keys(right), '__proto__'), fc.option(anything), {
      maxKeys: 2,
    })
    .map((changes) => ({ ...right, ...changes }));

const orAnything = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 5, arbitrary: right }, anything);

/** Tokens that nobody has signed. */
export const assertions = (claims: Record<string, unknown>): fc.Arbitrary<string> =>
  fc
    .tuple(
      orAnything(nearly(claims)),
      orAnything(nearly({ alg: 'ES256', kid: 'first', crit: undefined })),
      fc.constantFrom('', '', '', '.', '.x', '%', '\0'),
    )
    .map(([claims, header, tail]) => unsigned(claims, header) + tail);

const fullKey = {
  ...{ kty: 'EC', crv: 'P-256', kid: 'first', alg: 'ES256', use: 'sig', key_ops: ['verify'] },
  ...{ x: 'x'.repeat(43), y: 'y'.repeat(43), n: 'n'.repeat(342), e: 'AQAB' },
};

/** Keys of which none has signed anything. */
export const keySets = fc.array(
  orAnything(
    fc
      .constantFrom('EC', 'RSA', 'OKP')
      .chain((kty) => nearly({ ...fullKey, kty, crv: kty === 'OKP' ? 'Ed25519' : 'P-256' })),
  ),
  { maxLength: 6 },
);
