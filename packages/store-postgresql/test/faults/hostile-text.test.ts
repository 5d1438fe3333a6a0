import { issued, redemptionOf } from '@latchkey/store-suite/records';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresqlStore } from '../../src/postgresql-store.ts';
import { newDatabaseOn } from '../postgresql-harness.ts';

describeOnPostgresql('a text that PostgreSQL would refuse', (server) => {
  test('is found nowhere, and fails nobody who shares its statement', async () => {
    const url = await newDatabaseOn(server);
    const store = await openPostgresqlStore({ url, clock: Date.now });
    onTestFinished(() => store.close());
    const codes = await Promise.all(Array.from({ length: 4 }, () => issued(store)));
    const hostile = codes.map((code) => ({ ...redemptionOf(code), redirect_uri: '\0' }));
    const asked = await Promise.all(
      codes.flatMap((code, index) => [
        store.redeemCode(hostile[index] as (typeof hostile)[0]),
        store.redeemCode(redemptionOf(code)),
      ]),
    );
    expect(asked.map((grant) => grant !== null)).toEqual(codes.flatMap(() => [false, true]));
    expect(await store.findDescriptionIds(['\0'])).toEqual([null]);
  });
});
