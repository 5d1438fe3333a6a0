import { constants } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { Duplex } from 'node:stream';
import { DEFAULT_CIPHERS } from 'node:tls';
import type { Milliseconds } from '@latchkey/domain/clock';

// Agents of our own: Node's global ones obey proxy variables (NODE_USE_ENV_PROXY).

export interface Agents {
  http: http.Agent;
  https: https.Agent;
}

const tcp: http.AgentOptions = {
  // For each address of a name but the last. Node's own 250 ms are too short for many good connections.
  autoSelectFamilyAttemptTimeout: 2_500,
};

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
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  // Named, because NODE_TLS_REJECT_UNAUTHORIZED changes the default.
  rejectUnauthorized: true,
};

/** Each request makes a connection. */
export const singleUse: Agents = { http: new http.Agent(tcp), https: new https.Agent(tls) };

// Shorter than what servers usually grant: Node's own closes an idle connection after 5 s.
const IDLE: Milliseconds = 4_000;

// As many as there are tries at once.
const MAX_IDLE = 64;

/**
 * Keeps connections open for the next request to the same host and port, {@link MAX_IDLE} of each scheme.
 * Their addresses are not checked again: all requests have to allow the same.
 */
export function createKeepAlive(): Agents & { close(): void } {
  const options = { ...tcp, keepAlive: true, timeout: IDLE };
  const agents = {
    http: limitIdle(new http.Agent(options)),
    https: limitIdle(new https.Agent({ ...tls, ...options })),
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
