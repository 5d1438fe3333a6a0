import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../packages/test-kit/src/free-port.ts';
import type { Databases } from '../databases.ts';
import { maven } from '../maven.ts';
import { REDIRECT_URI, registration } from '../oauth-client.ts';
import type { Peer } from '../peer.ts';
import { environment, responds, startProgram } from '../program.ts';

/** Keycloak from its distribution, in production mode, on PostgreSQL, with a realm of its own. */
export async function startKeycloak(databases: Databases): Promise<Peer> {
  const database = await databases.postgresql();
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-keycloak-'));
  try {
    const pom = fileURLToPath(new URL('pom.xml', import.meta.url));
    const java = await maven(pom, ['dependency:unpack', `-DoutputDirectory=${folder}`]);
    const unpacked = join(folder, 'unpacked');
    const [distribution = ''] = await readdir(unpacked);
    const home = join(unpacked, distribution);

    const application = registration('application');
    const other = registration('other');
    const user = { username: 'ada', password: randomBytes(16).toString('hex') };
    await mkdir(join(home, 'data', 'import'), { recursive: true });
    await writeFile(
      join(home, 'data', 'import', 'races.json'),
      JSON.stringify(realm([application, other], user)),
    );

    const port = await freePort();
    const origin = `http://127.0.0.1:${port}`;
    const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = database.environment;
    const settings = {
      KC_DB: 'postgres',
      KC_DB_URL: `jdbc:postgresql://${PGHOST}:${PGPORT}/${PGDATABASE}`,
      KC_DB_USERNAME: PGUSER,
      KC_DB_PASSWORD: PGPASSWORD,
      KC_HOSTNAME: origin,
      KC_HTTP_HOST: '127.0.0.1',
      KC_HTTP_PORT: `${port}`,
      // On the loopback. A proxy in front of it would have the certificate.
      KC_HTTP_ENABLED: 'true',
      // One node: nothing is to be sent to others.
      KC_CACHE: 'local',
    };
    const url = `${origin}/realms/races/protocol/openid-connect`;
    const program = await startProgram(
      [join(home, 'bin', 'kc.sh'), 'start', '--import-realm'],
      { cwd: home, env: environment(settings), temporary: folder },
      () => responds(`${url}/certs`),
    );
    return {
      versions: `\`keycloak-quarkus-dist\` ${distribution.replace('keycloak-', '')}, ${java}, ${database.description}`,
      authorization: `${url}/auth`,
      token: `${url}/token`,
      resource: `${url}/userinfo`,
      scope: 'openid',
      application,
      other,
      async login(url, browser) {
        await browser.open(url);
        return browser.submit(user);
      },
      pid: program.pid,
      close: program.stop,
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

const realm = (
  clients: readonly { client_id: string; client_secret: string }[],
  { username, password }: { username: string; password: string },
) => ({
  realm: 'races',
  enabled: true,
  users: [
    {
      username,
      enabled: true,
      ...{ firstName: 'Ada', lastName: 'Example', email: 'ada@example.com', emailVerified: true },
      credentials: [{ type: 'password', value: password }],
    },
  ],
  clients: clients.map(({ client_id, client_secret }) => ({
    clientId: client_id,
    secret: client_secret,
    redirectUris: [REDIRECT_URI],
    attributes: { 'pkce.code.challenge.method': 'S256' },
  })),
});
