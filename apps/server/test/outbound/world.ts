import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer as createHttpServer, type RequestListener, type Server } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server as NetServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { Resolve } from '@latchkey/rules/outbound/resolve';
import { type Authority, createAuthority } from '@latchkey/test-kit/certificates';
import { onTestFinished } from 'vitest';

/** Certificates of this world are for these names. */
export const HOSTS = ['docs.example.com', 'keys.example.org', 'a.example.net', 'b.example.net'];

/** As long as the host of a document may be. */
export const LONG_HOST = 'claude.ai.oauth.client-metadata.sign-in.trusted.good.example';

export interface World {
  authority: Authority;
  /** A key and a certificate of the authority for {@link HOSTS}, 127.0.0.1 and localhost. */
  pem: string;
  close(): Promise<void>;
}

/** A world with a certificate authority that this process trusts until it is closed. */
export async function createWorld(): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-outbound-'));
  const authority = await createAuthority(folder, 'trusted');
  const names = [...HOSTS, LONG_HOST, 'localhost']
    .map((host) => `DNS:${host}`)
    .concat('IP:127.0.0.1');
  const pem = await readFile(await authority.issue('/CN=a host', names.join()), 'utf8');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await readFile(authority.file, 'utf8')]);
  return {
    authority,
    pem,
    async close() {
      setDefaultCACertificates(before);
      await rm(folder, { recursive: true });
    },
  };
}

/** Serves HTTPS on a free port of 127.0.0.1 until the test has finished. */
export async function serve(pem: string, listener: RequestListener, options: ServerOptions = {}) {
  return listen(createServer({ key: pem, cert: pem, ...options }, listener));
}

export async function servePlain(listener: RequestListener) {
  return listen(createHttpServer(listener));
}

export async function listen(server: NetServer | Server) {
  let connections = 0;
  const sockets = new Set<Duplex>();
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  });
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections, open: () => sockets.size };
}

/** Resolves names as the test says, each call with the next of its answers; the last one stays. */
export function resolver(answers: Record<string, string[][]>) {
  const asked: string[] = [];
  const resolve: Resolve = (name, _, callback) => {
    const earlier = asked.filter((one) => one === name).length;
    asked.push(name);
    const all = answers[name] ?? answers[name.replace(/\.$/, '')];
    const addresses = all?.[Math.min(earlier, all.length - 1)];
    if (addresses === undefined) {
      const error = Object.assign(new Error(`No address of ${name}`), { code: 'ENOTFOUND' });
      return callback(error, []);
    }
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return { resolve, asked };
}
