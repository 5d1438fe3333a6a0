import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { errorDefinition } from '@latchkey/schema';
import type { Logger } from 'pino';
import type { Limits } from '../limits/limits.ts';
import { redactorFor, type SecretSettings } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { operations } from '../operations/operation.ts';
import type { Service } from '../service.ts';
import { createAccessLog } from './access-log.ts';
import { answerJson } from './answer.ts';
import { answeredCalls } from './answered-calls.ts';
import { createAuthenticate } from './authenticate.ts';
import { CallerGone } from './body.ts';
import { limitConnections } from './connection-limit.ts';
import { cutWhereNotTaken, type Deadlines, requestDeadlines } from './deadlines.ts';
import { atEndOfTurn } from './end-of-turn.ts';
import { errorBody, errorHeaders } from './error-answer.ts';
import type { Exchange } from './exchange.ts';
import { reportFailure } from './failure.ts';
import { callerAddress } from './forwarded.ts';
import { healthRoutes } from './health.ts';
import { namesOneHost } from './host.ts';
import type { Intercept } from './intercept.ts';
import { metricsRoute } from './metrics-route.ts';
import { pageRoutes } from './pages/pages.ts';
import { createPastClosings } from './past-closings.ts';
import { createPublicUrl } from './public-url.ts';
import { createRecorder } from './recorded.ts';
import { requestId } from './request-id.ts';
import { operationRoute } from './rest/operation-route.ts';
import { createRouter } from './router.ts';
import { splitTarget } from './target.ts';
import { createTrpcHandler, TRPC_PREFIX } from './trpc/trpc-handler.ts';

/** What the HTTP server takes of the settings. */
export interface HttpOptions extends SecretSettings {
  publicUrl: string | null;
  trustProxy: boolean;
}

/** What stands around the requests: to refuse, to cut off, to count, to let a test have its way. */
export interface Surroundings {
  limits: Limits;
  /** Null where nobody asks for them. */
  metrics: Metrics | null;
  deadlines: Deadlines;
  intercept: Intercept;
}

// Longer than the 60 s that common load balancers keep an idle connection, so that it is never this
// side that closes one which the balancer is about to use.
const KEEP_ALIVE_TIMEOUT = 65_000;

/** The one server of both wires: request ids, limits, errors and the access log are its. */
export function createHttpServer(
  service: Service,
  options: HttpOptions,
  log: Logger,
  { limits, metrics, deadlines, intercept }: Surroundings,
): Server {
  const offered = new Map(
    [...operations].filter(
      ([, { caller }]) => caller !== 'operator' || options.adminSecret !== null,
    ),
  );
  const authenticate = createAuthenticate(service, options.adminSecret, limits.authentications);
  const router = createRouter([
    ...[...offered.values()].map((operation) =>
      operationRoute(operation, service, authenticate, limits),
    ),
    ...healthRoutes(service.store),
    ...pageRoutes(),
    ...(metrics === null ? [] : [metricsRoute(metrics)]),
  ]);
  const handleTrpc = createTrpcHandler(offered, service, authenticate, limits, log);
  const publicUrl = createPublicUrl(options.publicUrl, options.trustProxy);
  const accessLog = createAccessLog(log);
  const record = createRecorder(redactorFor(options));

  async function handle(exchange: Exchange): Promise<void> {
    const { method = '', url = '/' } = exchange.request;
    const { path, query } = splitTarget(url);
    if (path.startsWith(TRPC_PREFIX)) return handleTrpc(exchange, path, query);
    const { route, parameters } = router.find(method, path);
    exchange.route = route.path;
    exchange.operation = route.operation ?? route.path;
    await route.handle(exchange, parameters, query);
  }

  const closing = () => !server.listening;
  // Connections that have their last answer. A request that was sent behind it would be done and
  // its answer lost, so it is not taken (RFC 9112, section 9.6).
  const over = new WeakSet<Socket>();

  async function respond(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    startedAt: number,
  ): Promise<void> {
    const { socket } = request;
    if (over.has(socket)) return;
    if (!namesOneHost(request)) {
      over.add(socket);
      response.writeHead(400, { Connection: 'close', 'Content-Length': 0 }).end();
      return;
    }
    const id = requestId(request.headers['x-request-id']);
    const address = callerAddress(request, options.trustProxy);
    const exchange: Exchange = {
      request,
      response,
      requestId: id,
      publicUrl: publicUrl(request),
      address,
      recorded: record(id, address),
      expectsContinue,
      closing,
      perform: (operation, work) =>
        intercept({ operation, breakConnection: () => response.destroy() }, work),
      route: null,
    };
    try {
      await handle(exchange);
    } catch (failure) {
      if (!(failure instanceof CallerGone)) {
        const error = reportFailure(log, exchange, failure);
        const { status } = errorDefinition(error.code);
        const caller = callerOfPath(exchange.route);
        answerJson(exchange, status, errorBody(exchange, error, caller), errorHeaders(error));
      }
    }
    if (exchange.isLast) over.add(socket);
    cutWhereNotTaken(response, deadlines);
    accessLog(exchange, startedAt);
    if (metrics === null) return;
    const seconds = (performance.now() - startedAt) / 1000;
    for (const call of answeredCalls(exchange)) metrics.answered(call, seconds);
  }

  const callers = new Map(
    [...offered.values()].map(({ path, caller }) => [path as string, caller]),
  );
  const callerOfPath = (route: string | null) =>
    route === null ? null : (callers.get(route) ?? null);

  const server = createServer({
    ...requestDeadlines(deadlines),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // Looked at together with a Host too many.
    requireHostHeader: false,
  });
  limitConnections(server, log);
  const gather = service.store.isLocal ? atEndOfTurn : createPastClosings();
  const listener =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
      const startedAt = performance.now();
      return gather(() => respond(request, response, expectsContinue, startedAt));
    };
  server.on('request', listener(false));
  server.on('checkContinue', listener(true));
  // Any other expectation is passed over, as RFC 9110, section 10.1.1, allows: Node's own 417 would
  // be an answer without the body and the headers that all of ours have.
  server.on('checkExpectation', listener(false));
  return server;
}
