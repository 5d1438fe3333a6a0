import { hashCredential } from '@latchkey/domain/credentials/credentials';
import { formatCredential } from '@latchkey/schema';
import {
  aCode,
  anApplication,
  anInitiator,
  newCode,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { longer } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';
import { invoke } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { startProcess } from './server-process.ts';

const DAY = 86_400_000;
const ROUNDS = longer(1, 60);

describeOnEachStore('a process that is killed as soon as it has accepted a grant', (fresh) => {
  test('has noted the use, so that the grant ends on no other process', async () => {
    const database = await fresh();
    const store = await driverOf(database.url).open(database.url, { clock: Date.now });
    const application = anApplication({ idle_days: 1 });
    await store.createApplication(application);
    const server = await startProcess(database.url);
    const other = await startProcess(database.url);
    for (let round = 0; round < ROUNDS; round += 1) {
      // Used for the last time nearly two days ago: from tomorrow on, it would be idle.
      const before = Date.now() - 2 * DAY + 60_000;
      const code = aCode({ application_id: application.id, resource: null });
      const { grant_id } = code;
      const credential = formatCredential('grantSecret', grant_id, new Uint8Array(32));
      const secret_hash = hashCredential(credential);
      await store.putAccount(code.account);
      await store.issueCode(newCode(code));
      await store.redeemCode(redemptionOf(code, { secret_hash, now: before }));
      const initiator = anInitiator();
      await store.noteUse({ grant_id, secret_hash, now: before, initiator });

      const bearer = `Bearer ${credential}`;
      const asked = Date.now();
      expect((await invoke(server, 'REST', 'account.get', {}, bearer)).status).toBe(200);
      await server.kill();
      const found = await store.authenticateGrant(grant_id, { currentAccount: false });
      expect(found?.grant.last_used_at).toBeGreaterThanOrEqual(asked);
      expect((await invoke(other, 'REST', 'account.get', {}, bearer)).status).toBe(200);
      await server.restart();
    }
    await Promise.all([server.kill(), other.kill(), store.close()]);
    await database.remove();
  });
});
