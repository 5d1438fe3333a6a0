import { describe, expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { anAccount, anApplication, aSecret, granted, issued, withoutAccount } from './records.ts';

/** Texts that have broken databases, drivers and handwritten queries. */
export const HOSTILE = {
  'an object of operators': '{"$ne":null}',
  'an operator': '$where',
  'a path with dots': '$set.account.id',
  quotes: `'"\`''""\\`,
  SQL: "'; DROP TABLE grants; --",
  'a name of every object': '__proto__',
  'JSON words': 'null',
  'a number': '0123456789e5',
  'spaces at both ends': '  ada  ',
  '200 emoji': '🔑'.repeat(200),
  'emoji of several characters': '🧑‍🚀👩🏽‍🔬🇳🇿',
  'marks that would be composed': 'Ame\u0301lie',
  'right to left': '\u202eada\u202c עדה',
  'line separators of JavaScript': 'a\u2028b\u2029c',
  'a byte order mark': '\ufeffada',
};

export function describeTexts(stores: SuiteStores): void {
  describe('values are read as they were written', () => {
    test.each(Object.entries(HOSTILE))('%s', async (_, text) => {
      const account = anAccount({ username: text, display_name: text, twitter: text });
      await stores.store.putAccount(account);
      expect(await stores.store.findAccount(account.id)).toEqual(account);

      const application = anApplication({ name: text, secrets: [aSecret({ hint: text })] });
      await stores.store.createApplication(application);
      expect(await stores.store.findApplication(application.id)).toEqual(application);

      const members = { account, scope: text, application_id: application.id };
      const pending = await issued(stores.store, members);
      expect(await stores.store.cancelCode(pending.grant_id)).toEqual(pending);

      const { grant } = await granted(stores.store, members);
      expect(grant).toMatchObject({ account, scope: text });
      const listed = await stores.store.listGrants(
        { account_id: account.id },
        { limit: 2, before: null },
      );
      expect(listed).toEqual([grant]);
      const found = await stores.store.authenticateGrant(grant.grant_id, { currentAccount: true });
      expect(found).toMatchObject({ grant: withoutAccount(grant), account });
    });

    test('hashes and ids whose bytes are all zeros or all ones', async () => {
      for (const [byte, id] of [
        [0x00, '00000000-0000-0000-0000-000000000000'],
        [0xff, 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
      ] as const) {
        const account = anAccount({ id });
        const code_hash = new Uint8Array(32).fill(byte);
        const { code, grant } = await granted(stores.store, { account, code_hash });
        expect(grant.account).toEqual(account);
        expect(await stores.store.findCode(code.grant_id)).toMatchObject({
          application_id: code.application_id,
          code_hash,
          redeemed: true,
        });
        const range = { limit: 9, before: null };
        expect(await stores.store.listGrants({ account_id: id }, range)).toEqual([grant]);
      }
    });
  });
}
