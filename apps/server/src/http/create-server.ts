import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { CallContext } from '../operations/call.ts';
import { batchByTick, batchByTimer } from './batching.ts';
import { createRespond, type RespondOptions } from './respond.ts';
import type { PortRoutes } from './routes.ts';
import {
  limitSending,
  limitSockets,
  orderRequests,
  requestTimeouts,
  type Timeouts,
} from './socket-limits.ts';

export interface HttpOptions extends RespondOptions {
  timeouts: Timeouts;
}

const SHARE_OF_SOCKETS: Record<PortRoutes, number> = { all: 1, public: 0.75, admin: 0.25 };

// Longer than the 60 s of common load balancers, so that this side never closes a connection that
// the balancer is about to use.
const KEEP_ALIVE_TIMEOUT = 65_000;

export function createHttpServer(callContext: CallContext, options: HttpOptions): Server {
  const { log, timeouts, routes, isDraining } = options;
  const server = createServer({
    ...requestTimeouts(timeouts),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // Checked together with a second Host.
    requireHostHeader: false,
  });
  limitSockets(server, log, SHARE_OF_SOCKETS[routes]);
  const order = orderRequests();
  const batch = callContext.service.store.kind === 'sqlite' ? batchByTick : batchByTimer();
  const respond = createRespond(callContext, options, () => isDraining() || !server.listening);

  const listener =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      order.startAfterEarlier(request.socket, response, () => {
        const startedAt = performance.now();
        void batch(async () => {
          const received = { request, response, expectsContinue, startedAt };
          const { closesConnection } = await respond(received);
          if (closesConnection) order.finish(request.socket);
          limitSending(response, timeouts);
        });
      });
  server.on('request', listener(false));
  server.on('checkContinue', listener(true));
  // RFC 9110, section 10.1.1, allows ignoring other expectations. Node's own 417 would lack the
  // body and headers of every other response.
  server.on('checkExpectation', listener(false));
  return server;
}
