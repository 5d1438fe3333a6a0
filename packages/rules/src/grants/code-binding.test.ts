import type { CodeBinding } from '@latchkey/store/records';
import { expect, test } from 'vitest';
import { challengeOf, whyNotBound } from './code-binding.ts';

// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const URI = 'https://app.example/callback';

test('the challenge of a verifier is that of RFC 7636', () => {
  expect(challengeOf(VERIFIER)).toBe(CHALLENGE);
});

const given = { redirect_uri: URI, redirect_uri_given: true };
const implied = { redirect_uri: URI, redirect_uri_given: false };
const challenged = { code_challenge: CHALLENGE };

test.each<[Partial<CodeBinding>, string | null, string | null, string | null]>([
  [{}, null, null, null],
  [{}, URI, null, null],
  [{}, null, CHALLENGE, 'verifier_unexpected'],
  [given, URI, null, null],
  [given, `${URI}/`, null, 'redirect_uri_differs'],
  [given, URI.toUpperCase(), null, 'redirect_uri_differs'],
  [given, null, null, 'redirect_uri_missing'],
  [implied, null, null, null],
  [implied, URI, null, null],
  [implied, `${URI}?`, null, 'redirect_uri_differs'],
  [challenged, null, CHALLENGE, null],
  [challenged, null, null, 'verifier_missing'],
  [challenged, null, challengeOf('x'), 'verifier_wrong'],
  [challenged, null, CHALLENGE.slice(0, -1), 'verifier_wrong'],
  [{ ...given, ...challenged }, null, CHALLENGE, null],
  [{ ...given, ...challenged }, null, null, 'verifier_missing'],
  [{ ...given, ...challenged }, 'x', null, 'redirect_uri_differs'],
  [given, URI, CHALLENGE, 'verifier_unexpected'],
])('bound to %j, redeemed with %s and %s: %s', (binding, redirect_uri, code_challenge, reason) => {
  const code: CodeBinding = {
    ...{ redirect_uri: null, redirect_uri_given: false, code_challenge: null, link_id: null },
    resource: null,
    ...binding,
  };
  expect(whyNotBound(code, { redirect_uri, code_challenge, resources: null })).toBe(reason);
});

test.each<[string | null, (string | null)[] | null, string | null]>([
  ['https://a.example', null, null],
  ['https://a.example', ['https://a.example'], null],
  ['https://a.example', ['https://b.example', null], 'resource_differs'],
  ['https://a.example', [], 'resource_differs'],
  [null, null, null],
  [null, ['https://a.example', null], null],
  [null, ['https://a.example'], 'resource_differs'],
])('for %s, redeemed for one of %j: %s', (resource, resources, reason) => {
  const code: CodeBinding = {
    ...{ redirect_uri: null, redirect_uri_given: false, code_challenge: null, link_id: null },
    resource,
  };
  expect(whyNotBound(code, { redirect_uri: null, code_challenge: null, resources })).toBe(reason);
  // The verifier comes first.
  const wrong = { redirect_uri: null, code_challenge: CHALLENGE, resources };
  expect(whyNotBound(code, wrong)).toBe('verifier_unexpected');
});
