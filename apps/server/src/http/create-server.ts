import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { demoRoutes } from '../demo/demo-routes.ts';
import type { DomainError } from '../domain-error.ts';
import { redactorFor, type SecretSettings } from '../log/log.ts';
import { namesLoopback } from '../loopback.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type CallContext, ClientGone } from '../operations/call.ts';
import { operations } from '../operations/operation.ts';
import type { Settings } from '../settings.ts';
import type { TraceRequest } from '../tracing/tracing.ts';
import { createAccessLog } from './access-log.ts';
import { createAuthenticate } from './authenticate.ts';
import { batchByTick, batchByTimer } from './batching.ts';
import { bearerChallenge } from './challenge.ts';
import {
  limitConnections,
  limitSending,
  requestTimeouts,
  type Timeouts,
  trackConnections,
} from './connection-limits.ts';
import { pageRoutes } from './docs/docs-routes.ts';
import { errorBody, errorHeaders, errorStatus, reportFailure } from './error-response.ts';
import { createPageTools, linkingRoutes } from './linking/linking-routes.ts';
import type { PageSettings } from './linking/page-sender.ts';
import { createTextCatalog } from './linking/page-texts.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { healthRoutes, metricsRoute } from './monitoring-routes.ts';
import type { RequestContext } from './request-context.ts';
import {
  clientAddress,
  createPublicUrl,
  createRecorder,
  isWellFramed,
  requestId,
} from './request-metadata.ts';
import { sendBadRequest, sendJson } from './response.ts';
import { clientEndpoints } from './rest/client-endpoints.ts';
import { clientRoute } from './rest/client-route.ts';
import { operationRoute } from './rest/operation-route.ts';
import { createRouter, splitTarget } from './router.ts';
import { createTrpcHandler, TRPC_PREFIX } from './trpc/trpc-handler.ts';

/**
 * Which routes a port has. With ADMIN_PORT, the operator's operations and the metrics have a port of
 * their own, and the other one has the rest. Health is on both.
 */
export type PortRoutes = 'all' | 'public' | 'admin';

/** What the HTTP server needs besides the context of its calls. */
export interface HttpOptions {
  settings: SecretSettings &
    PageSettings &
    Pick<Settings, 'publicUrl' | 'trustProxy' | 'pageTexts'>;
  log: Logger;
  /** Null if metrics are off. */
  metrics: Metrics | null;
  /** Runs the handling of a request in a span of its own. Default: requests have no spans. */
  traceRequest?: TraceRequest | undefined;
  timeouts: Timeouts;
  routes: PortRoutes;
  /** Where the service listens, if it has a demo of the linking flow; null if it has none. */
  demoUrl: string | null;
  /** Whether a shutdown has begun that still takes requests. */
  isDraining: () => boolean;
}

// With two ports, the share of each in the connections that the process can hold.
const SHARE_OF_CONNECTIONS: Record<PortRoutes, number> = { all: 1, public: 0.75, admin: 0.25 };

// Longer than the 60 s for which common load balancers keep an idle connection, so that this side
// never closes a connection that the balancer is about to use.
const KEEP_ALIVE_TIMEOUT = 65_000;

export function createHttpServer(
  callContext: CallContext,
  { settings, log, metrics, traceRequest, timeouts, routes, demoUrl, isDraining }: HttpOptions,
): Server {
  const { service, limits } = callContext;
  const hasPublic = routes !== 'admin';
  const hasAdmin = routes !== 'public';
  const offered = new Map(
    [...operations]
      .filter(([, { needsLinking }]) => !needsLinking || service.linking !== null)
      .filter(([, { caller }]) =>
        caller === 'operator' ? hasAdmin && settings.adminSecret !== null : hasPublic,
      ),
  );
  const { authenticate, authenticateClient } = createAuthenticate(
    service,
    settings,
    limits.authentications,
  );
  const { languages } = createTextCatalog(settings.pageTexts);
  const pageTools =
    hasPublic && service.linking !== null ? createPageTools(callContext, settings) : null;
  const routesForAll = [
    ...[...offered.values()]
      .filter(({ path }) => clientEndpoints.every((endpoint) => endpoint.path !== path))
      .map((operation) => operationRoute(operation, callContext, authenticate)),
    ...(hasPublic ? clientEndpoints : []).map((endpoint) =>
      clientRoute(endpoint, callContext, authenticateClient),
    ),
    ...(pageTools === null ? [] : linkingRoutes(pageTools)),
    ...healthRoutes(service.store, isDraining),
    ...(hasPublic ? pageRoutes(settings.publicUrl) : []),
    ...(pageTools !== null
      ? metadataRoutes(service, { publicUrl: settings.publicUrl, languages })
      : []),
    ...(hasAdmin && metrics !== null ? [metricsRoute(metrics)] : []),
  ];
  const router = createRouter(routesForAll);
  const withDemo =
    pageTools === null || demoUrl === null
      ? null
      : createRouter([...routesForAll, ...demoRoutes(pageTools, demoUrl)]);
  // Under a name of its own, a page of another site could reach this machine too (DNS rebinding).
  const routerFor = ({ headers }: IncomingMessage) =>
    withDemo !== null && namesLoopback(headers.host) ? withDemo : router;
  const handleTrpc = createTrpcHandler(offered, callContext, authenticate, log);
  const callerByPath = new Map(
    [...offered.values()].map(({ path, caller }) => [path as string | null, caller]),
  );
  const publicUrl = createPublicUrl(settings.publicUrl, settings.trustProxy);
  const record = createRecorder(redactorFor(settings));
  const accessLog = createAccessLog(log);

  async function route(context: RequestContext): Promise<void> {
    const { method = '', url = '/' } = context.request;
    const { path, query } = splitTarget(url);
    if (path.startsWith(TRPC_PREFIX)) return handleTrpc(context, path, query);
    const found = routerFor(context.request).find(method, path);
    context.route = found.route.path;
    context.calls = [{ operation: found.route.action ?? found.route.path, status: null }];
    try {
      await found.route.handle(context, found.parameters, query);
    } catch (failure) {
      const send = found.route.sendError;
      if (send === undefined || failure instanceof ClientGone) throw failure;
      send(context, noteFailure(context, failure));
    }
  }

  function noteFailure(context: RequestContext, failure: unknown): DomainError {
    const error = reportFailure(log, context, failure);
    for (const call of context.calls) call.error_code ??= error.code;
    return error;
  }

  function sendError(context: RequestContext, failure: unknown): void {
    const error = noteFailure(context, failure);
    const caller = callerByPath.get(context.route) ?? null;
    const body = errorBody(context, error, caller);
    sendJson(context, errorStatus(context, error), body, errorHeaders(context, error));
  }

  function recordRequest(context: RequestContext, startedAt: number): void {
    accessLog(context, startedAt);
    if (metrics === null) return;
    const seconds = (performance.now() - startedAt) / 1000;
    const { wire, response, calls } = context;
    for (const { action, operation, status, error_code } of calls) {
      const ownStatus = status ?? (response.headersSent ? response.statusCode : null);
      metrics.finished(
        { operation: action ?? operation ?? 'unknown', wire, status: ownStatus, error_code },
        seconds,
      );
    }
  }

  const isClosing = () => isDraining() || !server.listening;

  async function respond(context: RequestContext): Promise<void> {
    try {
      if (isWellFramed(context.request)) await route(context);
      else sendBadRequest(context);
    } catch (failure) {
      if (!(failure instanceof ClientGone)) sendError(context, failure);
    }
  }

  async function handle(
    request: IncomingMessage,
    response: ServerResponse,
    expectsContinue: boolean,
    startedAt: number,
  ): Promise<void> {
    const id = requestId(request.headers['x-request-id']);
    const address = clientAddress(request, settings.trustProxy);
    const context: RequestContext = {
      request,
      response,
      requestId: id,
      publicUrl: publicUrl(request),
      address,
      recorded: record(id, address),
      expectsContinue,
      isClosing,
      wire: 'rest',
      route: null,
      calls: [{ operation: null, status: null }],
      arrivedWhole: request.complete,
      waitedForBody: false,
      challenge: bearerChallenge,
      routeHeaders: {},
      errorSurroundings: {},
      closesConnection: false,
    };
    // A lone request is handled while Node still reads what came with its headers.
    if (!request.complete) {
      setImmediate(() => {
        context.arrivedWhole = request.complete;
      });
    }
    if (traceRequest === undefined) await respond(context);
    else await traceRequest(context, () => respond(context));
    if (context.closesConnection) connections.finish(request.socket);
    limitSending(response, timeouts);
    recordRequest(context, startedAt);
  }

  const server = createServer({
    ...requestTimeouts(timeouts),
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    // Checked together with a second Host.
    requireHostHeader: false,
  });
  limitConnections(server, log, SHARE_OF_CONNECTIONS[routes]);
  const connections = trackConnections();
  const batch = service.store.kind === 'sqlite' ? batchByTick : batchByTimer();
  const listener =
    (expectsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) =>
      connections.inTurn(request.socket, response, () => {
        const startedAt = performance.now();
        void batch(() => handle(request, response, expectsContinue, startedAt));
      });
  server.on('request', listener(false));
  server.on('checkContinue', listener(true));
  // Other expectations are ignored, as RFC 9110, section 10.1.1, allows. Node's own 417 would lack
  // the body and the headers of every other response.
  server.on('checkExpectation', listener(false));
  return server;
}
