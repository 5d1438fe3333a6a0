import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { CannotListen, type OpenServer } from '@latchkey/server/testing';

// Rarely, another program takes the port before the server does.
const ATTEMPTS = 5;

/**
 * Starts a server on a free port that is known before it starts, because its public URL has it.
 *
 * @param start - starts a server on a port
 */
export async function startOnFreePort(
  start: (port: number) => Promise<OpenServer>,
): Promise<OpenServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (!(error instanceof CannotListen) || attempt === ATTEMPTS) throw error;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
