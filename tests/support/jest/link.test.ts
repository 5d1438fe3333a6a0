// A test of an application, with Jest and TypeScript: the program and its test are one file here.
// Links and unlinks an account at LATCHKEY_URL with LATCHKEY_CODE.

import {
  CodeAlreadyUsedError,
  ConnectionError,
  isLatchkeyError,
  Latchkey,
  TimeoutError,
} from '@latchkey/client';
import { requireGrant } from '@latchkey/client/guards';

const { LATCHKEY_CODE: code = '', NOBODY: nobody = '' } = process.env;

test('a user links and unlinks an account', async () => {
  const latchkey = new Latchkey();
  const grants = await Promise.all([latchkey.convert(code), latchkey.convert(code)]);
  expect(grants[0]).toStrictEqual(grants[1]);
  const [{ grant_id, grant_secret, account }] = grants;
  expect(await latchkey.account(grant_secret)).toStrictEqual(account);

  const headers = { authorization: `Bearer ${grant_secret}` };
  const request = new Request('https://api.example', { headers });
  expect(await requireGrant(request, { latchkey })).toHaveProperty('grant_id', grant_id);

  const again = await latchkey.convert(code).catch((error: unknown) => error);
  expect(again).toBeInstanceOf(CodeAlreadyUsedError);
  expect(again).toBeInstanceOf(Error);
  expect(isLatchkeyError(again) && again.stack).toContain('link.test.ts');

  expect(await latchkey.revoke(grant_id)).toMatchObject({ revoked: true });
});

test('nobody listens, or nobody answers in time', async () => {
  const lost = new Latchkey({ baseUrl: nobody, maxRetries: 0 });
  await expect(lost.convert(code)).rejects.toThrow(ConnectionError);
  await expect(lost.convert(code)).rejects.toMatchObject({ maybe_sent: false });
  const silent = new Latchkey({ fetch: () => new Promise(() => {}), timeoutMs: 20 });
  await expect(silent.convert(code)).rejects.toThrow(TimeoutError);
});
