/**
 * Runs a host against the service itself, with no other program. `@latchkey/testing` plays the application.
 */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LatchkeyAdmin } from '@latchkey/client/admin';
import { createTestServer } from '@latchkey/testing';

/** Links the account of the user with this cookie, at a host that listens to the requests. */
export async function testHost(
  hostOf: (admin: LatchkeyAdmin, url: string) => RequestListener,
  cookie: string,
) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using latchkey = await createTestServer({ signInUrl: `${url}/link` });
  const { baseUrl, adminSecret } = latchkey;
  server.on('request', hostOf(new LatchkeyAdmin({ baseUrl, adminSecret }), url));

  const link = await latchkey.beginLink();
  const response = await fetch(link.signInUrl, { redirect: 'manual', headers: { cookie } });
  const { grant, error_code } = await link.finish(response.headers.get('Location'));
  server.close();
  assert.equal(error_code, null);
  return grant?.account.username;
}
