import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../packages/test-kit/src/free-port.ts';
import type { Databases } from '../databases.ts';
import { maven } from '../maven.ts';
import { REDIRECT_URI, registration } from '../oauth-client.ts';
import { type ClientSecretHash, type Peer, slowHash } from '../peer.ts';
import { environment, responds, startProgram } from '../program.ts';

/** Spring Authorization Server in Spring Boot, with its JDBC services on PostgreSQL. */
export async function startSpringAuthorizationServer(
  databases: Databases,
  hash: ClientSecretHash = 'turned down',
): Promise<Peer> {
  const database = await databases.postgresql();
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-spring-'));
  try {
    const pom = fileURLToPath(new URL('pom.xml', import.meta.url));
    const java = await maven(pom, ['package', `-DoutputDirectory=${folder}`]);
    // The names of the files in an archive stand there as they are.
    const archive = await readFile(join(folder, 'server.jar'), 'latin1');
    const versionOf = (name: string) =>
      `\`${name}\` ${new RegExp(`/${name}-([\\d.]+)\\.jar`).exec(archive)?.[1]}`;

    const application = registration('application');
    const other = registration('other');
    const user = { username: 'ada', password: randomBytes(16).toString('hex') };
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const { PGHOST, PGPORT, PGUSER, PGPASSWORD, PGDATABASE } = database.environment;
    const settings = {
      ...slowHash(hash),
      SERVER_ADDRESS: '127.0.0.1',
      SERVER_PORT: `${port}`,
      // A look-up needs a second connection while it holds one, so a pool of fewer than twice as many as there
      // are requests at once can wait for itself: spring-attic/spring-authorization-server#1257.
      SERVER_TOMCAT_THREADS_MAX: '40',
      SPRING_DATASOURCE_HIKARI_MAXIMUM_POOL_SIZE: '80',
      SPRING_DATASOURCE_HIKARI_MINIMUM_IDLE: '10',
      SPRING_DATASOURCE_URL: `jdbc:postgresql://${PGHOST}:${PGPORT}/${PGDATABASE}`,
      SPRING_DATASOURCE_USERNAME: PGUSER,
      SPRING_DATASOURCE_PASSWORD: PGPASSWORD,
      REDIRECT_URI,
      USER_PASSWORD: user.password,
      SECRET_OF_application: application.client_secret,
      SECRET_OF_other: other.client_secret,
    };
    const program = await startProgram(
      ['java', '-jar', join(folder, 'server.jar')],
      { cwd: folder, env: environment(settings), temporary: folder },
      () => responds(`${url}/oauth2/jwks`),
    );
    return {
      versions: `${versionOf('spring-security-oauth2-authorization-server')}, ${versionOf('spring-boot')}, ${java}, ${database.description}`,
      authorization: `${url}/oauth2/authorize`,
      token: `${url}/oauth2/token`,
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
