import { randomUUID } from 'node:crypto';
import { bodyUnlessRefused, type Contender, type Redeemer } from './contender.ts';

/** Registers two applications and an account on a running Latchkey, and calls it over REST. */
export async function latchkeyContender(
  url: string,
  adminSecret: string,
): Promise<Omit<Contender, 'close'>> {
  function call(method: string, path: string, secret: string | null, body?: object) {
    return fetch(url + path, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  async function administer(method: string, path: string, body?: object) {
    const response = await bodyUnlessRefused(await call(method, path, adminSecret, body));
    if (response === null) throw new Error(`${method} ${path} was refused.`);
    return response as Record<'id' | 'secret' | 'code', string>;
  }

  const account_id = randomUUID();
  await administer('PUT', `/admin/accounts/${account_id}`, { username: 'ada' });
  const application = await administer('POST', '/admin/applications', { name: 'Application' });
  const other = await administer('POST', '/admin/applications', { name: 'Other application' });
  // Well formed with a valid checksum, so that only the store can refuse it.
  const secretsPath = `/admin/applications/${application.id}/secrets`;
  const removed = await administer('POST', secretsPath, {});
  await administer('DELETE', `${secretsPath}/${removed.id}`);
  const secrets: Record<Redeemer, string | null> = {
    application: application.secret,
    'wrong secret': removed.secret,
    'other application': other.secret,
    nobody: null,
  };
  const codeRequest = { application_id: application.id, account_id, scope: 'profile.read' };

  return {
    issue: async () => (await administer('POST', '/admin/codes', codeRequest)).code,
    async redeem(code, by) {
      const response = await call('POST', '/oauth/convert', secrets[by], { code });
      return (await bodyUnlessRefused(response))?.grant_secret ?? null;
    },
    accepts: async (grant) =>
      (await bodyUnlessRefused(await call('GET', '/v1/account', grant))) !== null,
  };
}
