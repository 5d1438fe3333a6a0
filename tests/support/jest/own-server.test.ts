// The same with the test server, whose package is ESM.

import { AuthenticationError, Latchkey } from '@latchkey/client';
import { createTestServer, type TestServer } from '@latchkey/testing';

let server: TestServer;
beforeAll(async () => {
  server = await createTestServer();
});
afterAll(() => server.close());

test('a user unlinks an account', async () => {
  const latchkey = new Latchkey(server);
  const { code } = await server.issueCode();
  const { grant_id, grant_secret } = await latchkey.convert(code);
  await server.revoke(grant_id);
  await expect(latchkey.account(grant_secret)).rejects.toThrow(AuthenticationError);
});
