import type { CodeBinding } from '@latchkey/store/records';
import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aBinding, aCode, issued, newCode, redemptionOf, unbound } from './records.ts';

const URI = 'http://127.0.0.1:51004/callback';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const redirectUris = [null, URI, `${URI}?`, URI.toUpperCase(), URI.replace('51004', '51005')];
const challenges = [null, CHALLENGE, CHALLENGE.toLowerCase()];

/** What a code is bound to, and which redirect URIs redeem it. The challenge has to be the code's. */
const kinds: [string, Partial<CodeBinding>, (string | null)[]][] = [
  ['nothing', unbound, redirectUris],
  ['a challenge', { ...unbound, code_challenge: CHALLENGE }, redirectUris],
  [
    'a redirect URI that the request named',
    { redirect_uri: URI, redirect_uri_given: true, code_challenge: null },
    [URI],
  ],
  [
    'a redirect URI that the request left out',
    { redirect_uri: URI, redirect_uri_given: false, code_challenge: null },
    [URI, null],
  ],
  [
    'a challenge and a redirect URI that the request named',
    { redirect_uri: URI, redirect_uri_given: true, code_challenge: CHALLENGE },
    [URI, null],
  ],
  [
    'a challenge and a redirect URI that the request left out',
    { redirect_uri: URI, redirect_uri_given: false, code_challenge: CHALLENGE },
    [URI, null],
  ],
];

const all = redirectUris.flatMap((redirect_uri) =>
  challenges.map((code_challenge) => ({ redirect_uri, code_challenge })),
);

export function describeBindings(stores: SuiteStores): void {
  describe('a code that is bound to', () => {
    test.each(kinds)('%s', async (_, bound, good) => {
      for (const brought of all) {
        const code = await issued(stores.store, { ...aBinding(), ...bound });
        const isGood =
          good.includes(brought.redirect_uri) && brought.code_challenge === code.code_challenge;
        const grant = await stores.other.redeemCode(redemptionOf(code, brought));
        // With what was brought, so that a failure names it.
        expect({ brought, redeemed: grant !== null }).toEqual({ brought, redeemed: isGood });
        // What was refused costs the code nothing.
        const again = await stores.store.redeemCode(redemptionOf(code));
        expect(again === null).toBe(isGood);
      }
    });

    test('a resource, or none', async () => {
      const [ours, other] = ['https://a.example/mcp', 'https://a.example/MCP'];
      for (const [resource, resources, isGood] of [
        [ours, null, true],
        [ours, [ours], true],
        [ours, [other, ours], true],
        [ours, [other], false],
        [ours, [null], false],
        [ours, [], false],
        [null, null, true],
        [null, [null], true],
        [null, [ours, null], true],
        [null, [ours], false],
        [null, [], false],
      ] as const) {
        const code = await issued(stores.store, { ...aBinding(), resource });
        const brought = redemptionOf(code, { resources });
        const grant = await stores.other.redeemCode(brought);
        expect({ brought, redeemed: grant !== null }).toEqual({ brought, redeemed: isGood });
        if (isGood) expect(grant?.resource).toBe(resource);
        expect((await stores.store.redeemCode(redemptionOf(code))) === null).toBe(isGood);
        const { application_id, account } = code;
        const connection = { application_id, account_id: account.id };
        const range = { limit: 1, before: null };
        for (const [grant] of [
          await stores.other.listGrants(connection, range),
          await stores.other.listActiveGrants(connection, range),
        ]) {
          expect(grant?.resource).toBe(resource);
        }
        const found = await stores.other.authenticateGrant(code.grant_id, {
          currentAccount: false,
        });
        expect(found?.grant.resource).toBe(resource);
      }
    });

    test('anything keeps it, before and after the redemption', async () => {
      for (const binding of [aBinding(), aBinding({ redirect_uri_given: false }), unbound]) {
        const code = aCode(binding);
        await stores.store.putAccount(code.account);
        expect(await stores.store.issueCode(newCode(code))).toEqual(code);
        expect(await stores.other.listCodes(code.account.id)).toEqual([code]);
        expect(await stores.other.findCode(code.grant_id)).toMatchObject(binding);
        await stores.store.redeemCode(redemptionOf(code));
        expect(await stores.other.findCode(code.grant_id)).toMatchObject({
          ...binding,
          redeemed: true,
        });
      }
    });
  });
}
