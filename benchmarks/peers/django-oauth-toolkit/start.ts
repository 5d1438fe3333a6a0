import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Databases } from '../databases.ts';
import { REDIRECT_URI, registration } from '../oauth-client.ts';
import { type ClientSecretHash, type Peer, slowHash } from '../peer.ts';
import { pythonApplication } from '../python.ts';

/** Django OAuth Toolkit by gunicorn, on PostgreSQL. Its user logs in on the page of Django's admin. */
export async function startDjangoOAuthToolkit(
  databases: Databases,
  hash: ClientSecretHash = 'turned down',
): Promise<Peer> {
  const database = await databases.postgresql();
  const user = { username: 'ada', password: randomBytes(16).toString('hex') };
  const django = await pythonApplication(
    fileURLToPath(new URL('.', import.meta.url)),
    'race-django-oauth-toolkit',
    {
      ...database.environment,
      ...slowHash(hash),
      DJANGO_SETTINGS_MODULE: 'settings',
      SECRET_KEY: randomBytes(32).toString('hex'),
      DJANGO_SUPERUSER_PASSWORD: user.password,
    },
  );
  const manage = (...words: string[]) => django.run(['-m', 'django', ...words]);
  await manage('migrate', '--verbosity=0');
  const email = ['--email', 'ada@example.com'];
  await manage('createsuperuser', '--noinput', '--username', user.username, ...email);
  const application = registration('application');
  const other = registration('other');
  for (const { client_id, client_secret } of [application, other]) {
    const credentials = [`--client-id=${client_id}`, `--client-secret=${client_secret}`];
    const options = [`--redirect-uris=${REDIRECT_URI}`, '--skip-authorization'];
    const words = [...credentials, ...options, 'confidential', 'authorization-code'];
    await manage('createapplication', ...words);
  }
  const { url, pid, stop } = await django.serve('django.core.wsgi:get_wsgi_application()');
  return {
    versions: `${django.versions}, ${database.description}`,
    authorization: `${url}/o/authorize/`,
    token: `${url}/o/token/`,
    resource: `${url}/account`,
    scope: 'read',
    application,
    other,
    async login(url, browser) {
      await browser.open(url);
      return browser.submit(user);
    },
    pid,
    close: stop,
  };
}
