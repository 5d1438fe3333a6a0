import { fileURLToPath } from 'node:url';
import type { Databases } from '../databases.ts';
import { REDIRECT_URI, registration } from '../oauth-client.ts';
import type { Peer } from '../peer.ts';
import { pythonApplication } from '../python.ts';

/** Authlib in Flask by gunicorn, on PostgreSQL. */
export async function startAuthlib(databases: Databases): Promise<Peer> {
  const database = await databases.postgresql();
  const flask = await pythonApplication(
    fileURLToPath(new URL('.', import.meta.url)),
    'race-authlib',
    {
      ...database.environment,
      REDIRECT_URI,
      // The race uses HTTP on the loopback.
      AUTHLIB_INSECURE_TRANSPORT: '1',
    },
  );
  const application = registration('application');
  const other = registration('other');
  const clients = [application, other].map((one) => `${one.client_id}:${one.client_secret}`);
  await flask.run(['server.py', ...clients]);
  const { url, pid, stop } = await flask.serve('server:app');
  return {
    versions: `${flask.versions}, ${database.description}`,
    authorization: `${url}/authorize`,
    token: `${url}/token`,
    resource: `${url}/account`,
    scope: 'read',
    application,
    other,
    login: (url, browser) => browser.open(url),
    pid,
    close: stop,
  };
}
