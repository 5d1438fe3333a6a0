import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority } from '@latchkey/test-kit/certificates';
import type { Environment } from '../../support/service.ts';

/** A server with the documents of clients that nobody registered. */
export interface DocumentServer {
  /** What lets Latchkey fetch them. */
  readonly settings: Environment;
  /** The address of a client's document, which is its `client_id`. */
  addressOf(name: string): string;
  close(): Promise<void>;
}

/** @param redirect_uris - where every client comes back to */
export async function startDocumentServer(redirect_uris: string[]): Promise<DocumentServer> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-documents-'));
  const authority = await createAuthority(folder, 'documents');
  const pem = await readFile(await authority.issue('/CN=documents'));
  const server = createServer({ key: pem, cert: pem }, ({ url = '' }, response) => {
    const document = {
      client_id: origin + url,
      client_name: url.slice(1),
      redirect_uris,
      token_endpoint_auth_method: 'none',
      // As clients publish it, whatever the service has.
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    };
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(document));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: {
      CLIENT_DOCUMENTS: '127.0.0.1',
      OUTBOUND_ALLOW: 'private',
      NODE_EXTRA_CA_CERTS: authority.file,
    },
    addressOf: (name) => `${origin}/${name}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      await rm(folder, { recursive: true });
    },
  };
}
