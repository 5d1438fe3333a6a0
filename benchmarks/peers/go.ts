import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../packages/test-kit/src/free-port.ts';
import { REDIRECT_URI, registration } from './oauth-client.ts';
import type { Peer } from './peer.ts';
import { environment, responds, startProgram, succeed } from './program.ts';

/**
 * Builds and starts the server in a folder with a `go.mod`. Its environment has its clients.
 *
 * @param library - the module that the server is made of
 * @param more - for its environment
 * @throws Unavailable if there is no Go
 */
export async function startGoServer(
  folder: string,
  library: string,
  more: Record<string, string> = {},
): Promise<Peer> {
  const data = await mkdtemp(join(tmpdir(), 'latchkey-go-'));
  try {
    const install = 'Go (on Debian: apt-get install golang-go)';
    // The settings of the machine for Go, such as its proxy, are in its own environment.
    const env = Object.fromEntries(
      Object.entries(process.env).filter(([, value]) => value !== undefined),
    ) as Record<string, string>;
    const options = { cwd: folder, env, install };
    const go = await succeed('go', ['env', 'GOVERSION'], options);
    const server = join(data, 'server');
    await succeed('go', ['build', '-mod=readonly', '-o', server, '.'], options);
    const required = (await readFile(join(folder, 'go.mod'), 'utf8')).split(/\s+/);
    const version = required[required.indexOf(library) + 1];

    const application = registration('application');
    const other = registration('other');
    const listen = `127.0.0.1:${await freePort()}`;
    const url = `http://${listen}`;
    const settings = {
      ...more,
      LISTEN: listen,
      REDIRECT_URI,
      SECRET_OF_application: application.client_secret,
      SECRET_OF_other: other.client_secret,
    };
    const program = await startProgram(
      [server],
      { cwd: data, env: environment(settings), temporary: data },
      () => responds(`${url}/account`),
    );
    return {
      versions: `\`${library}\` ${version}, Go ${go.trim().replace('go', '')}`,
      authorization: `${url}/authorize`,
      token: `${url}/token`,
      resource: `${url}/account`,
      scope: 'read',
      application,
      other,
      login: (url, browser) => browser.open(url),
      pid: program.pid,
      close: program.stop,
    };
  } catch (error) {
    await rm(data, { recursive: true, force: true });
    throw error;
  }
}
