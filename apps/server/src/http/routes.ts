import type { Metrics } from '../metrics/metrics.ts';
import type { CallContext } from '../operations/call.ts';
import { type Operation, operations } from '../operations/operation.ts';
import type { Settings } from '../settings.ts';
import type { Authentication } from './authenticate.ts';
import { docsRoutes, homeRoute, sendNotFound } from './docs/docs-routes.ts';
import type { Door } from './docs/home-page.ts';
import { createPageTools, linkingRoutes } from './linking/linking-routes.ts';
import type { PageSettings } from './linking/page-sender.ts';
import type { PageTools } from './linking/page-visit.ts';
import { metadataRoutes } from './metadata-routes.ts';
import { createReadiness, healthRoutes, metricsRoute } from './monitoring-routes.ts';
import { clientEndpoints } from './rest/client-endpoints.ts';
import { clientRoute } from './rest/client-route.ts';
import { operationRoute } from './rest/operation-route.ts';
import { registrationRoutes } from './rest/registration-routes.ts';
import type { Route, SendError } from './router.ts';

/** With ADMIN_PORT, the operator's operations and the metrics have a port of their own. */
export type PortRoutes = 'all' | 'public' | 'admin';

/** `/` with one more way to go. */
export type HomeWith = (door: Door) => Route;

export interface RouteOptions {
  routes: PortRoutes;
  settings: PageSettings & Pick<Settings, 'adminSecret' | 'publicUrl'>;
  metrics: Metrics | null;
  /** Aborted once the service is about to stop. */
  draining: AbortSignal;
  /** Only for browsers on this machine. */
  loopbackRoutes?: ((tools: PageTools, homeWith: HomeWith) => readonly Route[]) | undefined;
}

export interface OfferedRoutes {
  operations: ReadonlyMap<string, Operation>;
  routes: readonly Route[];
  loopbackRoutes: readonly Route[] | null;
  /** For a person at a path that there is not. */
  sendNotFound: SendError;
}

export function offeredRoutes(
  callContext: CallContext,
  { authenticate, authenticateClient }: Authentication,
  { routes, settings, metrics, draining, loopbackRoutes }: RouteOptions,
): OfferedRoutes {
  const { service } = callContext;
  const hasPublic = routes !== 'admin';
  const hasAdmin = routes !== 'public';
  const offered = [...operations.values()]
    .filter(({ needsLinking }) => !needsLinking || service.linking !== null)
    .filter(({ needsDocuments }) => !needsDocuments || service.linking?.clientDocuments != null)
    .filter(({ needsEvents }) => !needsEvents || service.events !== null)
    .filter(({ caller }) =>
      caller === 'operator' ? hasAdmin && settings.adminSecret !== null : hasPublic,
    );
  const ofClients = new Set(clientEndpoints.map(({ path }) => path));
  const pageTools =
    hasPublic && service.linking !== null ? createPageTools(callContext, settings) : null;

  const checkReadiness = createReadiness(service.store, draining);
  const hasLinking = pageTools !== null;
  const home = { publicUrl: settings.publicUrl, hasLinking, checkReadiness };

  const served = [
    ...offered
      .filter(({ path }) => !ofClients.has(path))
      .map((operation) => operationRoute(operation, callContext, authenticate)),
    ...(hasPublic
      ? clientEndpoints.map((endpoint) => clientRoute(endpoint, callContext, authenticateClient))
      : []),
    ...(pageTools === null ? [] : linkingRoutes(pageTools)),
    ...(hasPublic ? registrationRoutes(callContext) : []),
    ...healthRoutes(checkReadiness),
    ...(pageTools === null
      ? []
      : metadataRoutes(service, {
          publicUrl: settings.publicUrl,
          languages: pageTools.sender.languages,
        })),
    ...(hasAdmin && metrics !== null ? [metricsRoute(metrics)] : []),
  ];
  return {
    operations: new Map(offered.map((operation) => [operation.name, operation])),
    routes: [
      ...served,
      ...(hasPublic ? [homeRoute(home), ...docsRoutes(settings.publicUrl, served)] : []),
    ],
    loopbackRoutes:
      pageTools === null
        ? null
        : (loopbackRoutes?.(pageTools, (door) => homeRoute(home, door)) ?? null),
    sendNotFound: pageTools?.sender.sendError ?? sendNotFound,
  };
}
