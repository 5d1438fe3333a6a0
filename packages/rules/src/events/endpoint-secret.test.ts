import { expect, test } from 'vitest';
import { endpointSecret, goodSecrets, signingKeyOf } from './endpoint-secret.ts';

const KEY = 'an events key of 32 characters or more';
const PREVIOUS = 'the events key that was used before it';
const ID = '0198c5a2-7d3e-7f4a-9b1c-2d3e4f5a6b7c';
const NOW = 1_800_000_000_000;

test('a secret is derived from key, endpoint and version', () => {
  // Computed apart, by the two HMACs of RFC 5869 in Python.
  expect([1, 2].map((version) => endpointSecret(KEY, ID, version))).toEqual([
    'whsec_sPkHG86ed8sQ8yx4N3UKz8DGvlU0aomoM1NOrq17JC0=',
    'whsec_FLSjwsGZqUT/a1g+GthvYc22uyPHIXwXjgIdlsws5c4=',
  ]);
  const secret = endpointSecret(KEY, ID, 1);
  expect(signingKeyOf(secret).toString('hex')).toBe(
    'b0f9071bce9e77cb10f32c7837750acfc0c6be55346a89a833534eaead7b242d',
  );
  expect(endpointSecret(KEY, ID.replace('7c', '7d'), 1)).not.toBe(secret);
});

const [first, second, third] = [1, 2, 3].map((version) => endpointSecret(KEY, ID, version));
const [, secondBefore, thirdBefore] = [1, 2, 3].map((v) => endpointSecret(PREVIOUS, ID, v));

test.each<
  [
    when: string,
    previous: string | null,
    version: number,
    overlap: number | null,
    expected: unknown[],
  ]
>([
  ['no overlap', null, 1, null, [first]],
  ['an overlap', null, 2, NOW + 1, [second, first]],
  ['the end of an overlap', null, 2, NOW, [second]],
  ['an overlap after two rotations', null, 3, NOW + 1, [third, second]],
  ['a previous key', PREVIOUS, 3, null, [third, thirdBefore]],
  ['both', PREVIOUS, 3, NOW + 1, [third, second, thirdBefore, secondBefore]],
])('with %s, these secrets are good', (_, previous, secret_version, overlap_until, expected) => {
  const endpoint = { id: ID, secret_version, overlap_until };
  expect(goodSecrets({ current: KEY, previous }, endpoint, NOW)).toEqual(expected);
});
