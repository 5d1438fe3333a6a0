import crypto from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import type { AddressInfo } from 'node:net';
import { randomBytes } from '@latchkey/domain/credentials/credentials';

// For a process that only records: it changes what this process gets from Node, and never changes it back.
// The service has no seed of its own, which somebody could turn on.

const START = Date.UTC(2026, 10, 21, 2, 0, 0);

/** More than the service takes from the system at once. */
const MOST_RANDOM_BYTES = 8192;

/**
 * Gives the service a clock, and random bytes that are nearly all zero, so that nobody takes a recorded
 * credential for a real one. They and the times are different at each step, and the same at each recording.
 */
export function seed() {
  let now = START;
  let step = 0;
  /** In each block, so that it does not matter what the background has taken before. */
  function fill(bytes: Uint8Array): void {
    for (const place of bytes.keys()) bytes[place] = place % 16 === 15 ? step : 0;
  }
  crypto.randomFillSync = <Bytes extends NodeJS.ArrayBufferView>(bytes: Bytes): Bytes => {
    fill(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    return bytes;
  };
  // The secret of an endpoint.
  crypto.hkdfSync = (_digest, _key, _salt, _info, length) => {
    const bytes = new Uint8Array(length);
    fill(bytes);
    return bytes.buffer;
  };
  // The code of an approved link. Nobody here checks the signature of a message.
  crypto.Hmac.prototype.digest = (encoding?: BufferEncoding) => {
    const bytes = Buffer.alloc(32);
    fill(bytes);
    return (encoding === undefined ? bytes : bytes.toString(encoding)) as never;
  };
  syncBuiltinESMExports();
  return {
    clock: () => now,
    advance(milliseconds: number) {
      now += milliseconds;
      step += 1;
      // Throws away what is left of the bytes of the step before.
      randomBytes(MOST_RANDOM_BYTES);
    },
  };
}

/** Leads what the service sends over HTTPS to a receiver on this machine. */
export async function takeMessages() {
  const receiver = {
    /** Of its responses. */
    status: 204,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(receiver.status).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  https.request = (url: unknown, options?: unknown) => {
    const { method, headers, signal } = options as http.RequestOptions;
    return http.request({ port, path: new URL(String(url)).pathname, method, headers, signal });
  };
  return receiver;
}
