import { constants } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import { Socket, type TcpNetConnectOpts } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ConnectionOptions, connect, DEFAULT_CIPHERS } from 'node:tls';
import type { Milliseconds } from '@latchkey/domain/clock';

// Agents of our own: Node's global ones obey proxy variables (NODE_USE_ENV_PROXY).

export interface Agents {
  http: http.Agent;
  https: https.Agent;
}

const tcp: http.AgentOptions = {
  // Named, because NODE_OPTIONS can turn it off: then a name has one address.
  autoSelectFamily: true,
  // For each address of a name but the last. Node's own 250 ms are too short for many good connections.
  autoSelectFamilyAttemptTimeout: 2_500,
};

// TLS 1.3 chooses its group apart from the cipher. OpenSSL before 3.5, of earlier releases of Node 22 and of Linux
// distributions, takes nothing out of its own list, which has groups of up to 8,192 bits: they take 130 ms.
const takesOut = process.versions.openssl.localeCompare('3.5', 'en', { numeric: true }) >= 0;
const groupsWithoutDhe = takesOut ? 'DEFAULT:-ffdhe2048:-ffdhe3072' : 'X25519:P-256:P-384:P-521';

const tls: https.AgentOptions = {
  ...tcp,
  // A server that speaks HTTP/2 alone refuses this at once. Without it, such a server waits.
  ALPNProtocols: ['http/1.1'],
  // Without a session, each connection shows its certificate.
  maxCachedSessions: 0,
  minVersion: 'TLSv1.2',
  // A server chooses the group of DHE: one of 10,000 bits takes a second of the event loop. And it could ask for
  // one handshake after the other.
  ciphers: `${DEFAULT_CIPHERS}:!DHE`,
  ecdhCurve: groupsWithoutDhe,
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  // Named, because NODE_TLS_REJECT_UNAUTHORIZED changes the default.
  rejectUnauthorized: true,
};

// Chains of certificates have 3 to 8 KB; 11 with three RSA keys of 4,096 bits and a hundred names. OpenSSL takes 100 KB
// of them, and verifies each with a key of its issuer's choice: 65 ms of the event loop for 10 of RSA with 3,072 bits and
// an exponent as long, which have 15 KB.
export const MOST_HANDSHAKE_BYTES = 12_288;

// Twice the largest body. Tickets, new keys and interim responses are in no body and no header, and a second of the
// event loop reads 4 MB of tickets.
export const MOST_RESPONSE_BYTES = 131_072;

/** The connection below one of TLS: what arrives is bounded before OpenSSL has it. */
class BoundedSocket extends Socket {
  #left = MOST_HANDSHAKE_BYTES;
  /** How long the event loop has worked on what arrived. */
  spent: Milliseconds = 0;

  override push(chunk: Buffer | null): boolean {
    this.#left -= chunk?.length ?? 0;
    if (this.#left >= 0) {
      const began = performance.now();
      const mayContinue = super.push(chunk);
      this.spent += performance.now() - began;
      return mayContinue;
    }
    this.destroy(new Error('The server sends more bytes than any handshake or response has'));
    return false;
  }

  beginResponse(): void {
    this.#left = MOST_RESPONSE_BYTES;
  }
}

const belowTls = new WeakMap<Duplex, BoundedSocket>();

/** How long the event loop has worked for a connection of TLS. */
export const timeSpentOn = (socket: Duplex): Milliseconds => belowTls.get(socket)?.spent ?? 0;

class TlsAgent extends https.Agent {
  override createConnection(options: ConnectionOptions & TcpNetConnectOpts): Duplex {
    const below = new BoundedSocket(options);
    const socket = connect({ ...options, socket: below });
    belowTls.set(socket, below);
    socket.once('secureConnect', () => below.beginResponse());
    below.connect(options);
    return socket;
  }

  override reuseSocket(socket: Duplex, request: http.ClientRequest): void {
    belowTls.get(socket)?.beginResponse();
    super.reuseSocket(socket, request);
  }
}

/** Each request makes a connection. */
export const singleUse: Agents = { http: new http.Agent(tcp), https: new TlsAgent(tls) };

// Shorter than what servers usually grant: Node's own closes an idle connection after 5 s.
const IDLE: Milliseconds = 4_000;

// As many as there are tries at once.
const MAX_IDLE = 128;

/**
 * Keeps connections open for the next request to the same host and port, {@link MAX_IDLE} of each scheme.
 * Their addresses are not checked again: all requests have to allow the same.
 */
export function createKeepAlive(): Agents & { close(): void } {
  const options = { ...tcp, keepAlive: true, timeout: IDLE };
  const agents = {
    http: limitIdle(new http.Agent(options)),
    https: limitIdle(new TlsAgent({ ...tls, ...options })),
  };
  return {
    ...agents,
    close() {
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

/** Node has a limit for each host alone. */
function limitIdle<Agent extends http.Agent>(agent: Agent): Agent {
  const keepSocketAlive = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket: Duplex) => {
    const idle = Object.values(agent.freeSockets).reduce((sum, of) => sum + (of?.length ?? 0), 0);
    return idle < MAX_IDLE && keepSocketAlive(socket);
  };
  return agent;
}
