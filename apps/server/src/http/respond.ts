import type { IncomingMessage, ServerResponse } from 'node:http';
import type { DomainError } from '@latchkey/domain/domain-error';
import { isFromThisMachine } from '@latchkey/domain/loopback';
import { inRequest } from '@latchkey/domain/request-scope';
import type { Logger } from 'pino';
import { type CallContext, ClientGone } from '../operations/call.ts';
import { errorBody } from '../operations/error-body.ts';
import type { Settings } from '../settings.ts';
import type { TraceRequest } from '../tracing/tracing.ts';
import { type AdminSecrets, createAuthentication } from './authenticate.ts';
import { isOpenToBrowsers, letBrowsersIn } from './browser-clients.ts';
import { bearerChallenge } from './challenge.ts';
import { errorHeaders, errorStatus, reportFailure } from './error-response.ts';
import type { RequestContext } from './request-context.ts';
import {
  asksForPage,
  clientAddress,
  createPublicUrl,
  createRedaction,
  isWellFramed,
  requestId,
} from './request-metadata.ts';
import { sendBadRequest, sendJson } from './response.ts';
import { createRouter, type Route, splitTarget } from './router.ts';
import { offeredRoutes, type RouteOptions } from './routes.ts';
import { createTrpcHandler, TRPC_PREFIX } from './trpc/trpc-handler.ts';

export interface RespondOptions extends RouteOptions {
  settings: RouteOptions['settings'] & AdminSecrets & Pick<Settings, 'trustProxy'>;
  log: Logger;
  traceRequest?: TraceRequest | undefined;
  timeouts: { response: number };
}

interface ReceivedRequest {
  request: IncomingMessage;
  response: ServerResponse;
  expectsContinue: boolean;
  startedAt: number;
}

/** Never rejects. */
export type Respond = (received: ReceivedRequest) => Promise<{ closesConnection: boolean }>;

export function createRespond(
  callContext: CallContext,
  options: RespondOptions,
  isClosing: () => boolean,
): Respond {
  const { settings, log, metrics, traceRequest, timeouts } = options;
  const { service, limits } = callContext;
  const authentication = createAuthentication(service, settings, limits);
  const offered = offeredRoutes(callContext, authentication, options);
  const router = createRouter(offered.routes);
  const loopbackRouter =
    offered.loopbackRoutes === null
      ? null
      : createRouter([...offered.routes, ...offered.loopbackRoutes]);
  const { authenticate } = authentication;
  const handleTrpc = createTrpcHandler(offered.operations, callContext, authenticate, log);
  const publicUrl = createPublicUrl(settings.publicUrl, settings.trustProxy);
  const redacted = createRedaction(service.redact);
  const { clientDocuments = null, registeredClients } = service.linking ?? {};
  const takesBrowsers =
    options.routes !== 'admin' && (clientDocuments !== null || registeredClients?.isOn === true);

  async function respond(context: RequestContext): Promise<void> {
    let route: Route | null = null;
    try {
      if (!isWellFramed(context.request)) return sendBadRequest(context);
      const { method = '', url = '/' } = context.request;
      const { path, query } = splitTarget(url);
      if (takesBrowsers && isOpenToBrowsers(path) && letBrowsersIn(context)) return;
      if (path.startsWith(TRPC_PREFIX)) return await handleTrpc(context, path, query);
      const isLoopback = loopbackRouter !== null && isFromThisMachine(context.request);
      const found = (isLoopback ? loopbackRouter : router).find(method, path);
      route = found.route;
      context.route = route.path;
      context.calls = [{ operation: route.actions?.[0]?.name ?? route.path, status: null }];
      await route.handle(context, found.parameters, query);
    } catch (failure) {
      if (!(failure instanceof ClientGone)) sendError(context, failure, route);
    }
  }

  function sendError(context: RequestContext, failure: unknown, route: Route | null): void {
    const error = reportFailure(log, context, failure);
    for (const call of context.calls) call.error_code ??= error.code;
    try {
      if (route?.sendError !== undefined) route.sendError(context, error);
      else if (error.code === 'route_not_found' && asksForPage(context.request)) {
        offered.sendNotFound(context, error);
      } else sendJsonError(context, error, route);
    } catch (failure) {
      if (route === null) throw failure;
      sendError(context, failure, null);
    }
  }

  function sendJsonError(context: RequestContext, error: DomainError, route: Route | null): void {
    const body = errorBody(context, error, route?.actions?.[0]?.caller ?? null);
    sendJson(context, errorStatus(context, error), body, errorHeaders(context, error));
  }

  function note(context: RequestContext, startedAt: number): void {
    const { request, response, wire, calls } = context;
    const milliseconds = performance.now() - startedAt;
    const [first] = calls;
    log.info(
      {
        request_id: context.requestId,
        method: request.method,
        route: context.route,
        status: response.headersSent ? response.statusCode : null,
        duration_ms: Math.round(milliseconds * 1000) / 1000,
        address: context.redacted.address,
        application_id: first?.application_id,
        admin_secret: first?.admin_secret,
        key_id: first?.key_id,
        // The calls of a tRPC batch share one application. They differ in their grants and results.
        ...(calls.length === 1
          ? { grant_id: first?.grant_id, error_code: first?.error_code }
          : {
              calls: calls.map(({ status, grant_id, error_code }) => ({
                status,
                grant_id,
                error_code,
              })),
            }),
      },
      'request',
    );
    if (metrics === null) return;
    for (const { action, operation, status, error_code } of calls) {
      const ownStatus = status ?? (response.headersSent ? response.statusCode : null);
      metrics.finished(
        { operation: action ?? operation ?? 'unknown', wire, status: ownStatus, error_code },
        milliseconds / 1000,
      );
    }
  }

  return async ({ request, response, expectsContinue, startedAt }) => {
    const id = requestId(request.headers['x-request-id']);
    const address = clientAddress(request, settings.trustProxy);
    const context: RequestContext = {
      request,
      response,
      requestId: id,
      publicUrl: () => publicUrl(request),
      address,
      redacted: redacted(id, address),
      expectsContinue,
      isClosing,
      responseTimeout: timeouts.response,
      wire: 'rest',
      route: null,
      calls: [{ operation: null, status: null }],
      arrivedWhole: request.complete,
      waitedForBody: false,
      challenge: bearerChallenge,
      asksForForm: false,
      routeHeaders: {},
      errorPage: {},
      closesConnection: false,
    };
    // A lone request is handled while Node still reads what came with its headers.
    if (!request.complete) {
      setImmediate(() => {
        context.arrivedWhole = request.complete;
      });
    }
    const run = () => respond(context);
    await inRequest(traceRequest === undefined ? run : () => traceRequest(context, run));
    note(context, startedAt);
    return context;
  };
}
