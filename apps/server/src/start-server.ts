import { once } from 'node:events';
import type { Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type Server as NetServer,
} from 'node:net';
import { setImmediate as endOfTurn, setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '@latchkey/domain/clock';
import { fingerprintsOf } from '@latchkey/rules/events/endpoint-secret';
import type { DeliverySettings } from '@latchkey/rules/events/events';
import { createLimits } from '@latchkey/rules/limits/limits';
import { linkingOf } from '@latchkey/rules/linking/linking';
import { sinkOf } from '@latchkey/rules/log/log-sink';
import { redactorFor } from '@latchkey/rules/log/redactor';
import type { Resolve } from '@latchkey/rules/outbound/resolve';
import type { Service } from '@latchkey/rules/service';
import type { CopiedDatabase } from '@latchkey/store/use-mark';
import type { Logger } from 'pino';
import {
  createHttpServer,
  type HttpOptions,
  TIMEOUTS,
  type Timeouts,
} from './http/create-server.ts';
import { shareOfAddress } from './http/limit-connections.ts';
import type { PortRoutes } from './http/routes.ts';
import { isDemo } from './is-demo.ts';
import type { Metrics } from './metrics/metrics.ts';
import {
  closeService,
  eventsFrom,
  linkingFrom,
  openService,
  type ServiceOptions,
  watchService,
} from './open-service.ts';
import type { Intercept } from './operations/call.ts';
import { type Settings, settingsInForce } from './settings.ts';
import { loadTracing } from './tracing/load-tracing.ts';

export interface RunningServer {
  url: string;
  /** Null without ADMIN_PORT. */
  adminUrl: string | null;
  /** Null without a demo. */
  demoUrl: string | null;
  /** DRAIN_SECONDS for new requests, unless `drain` is false; then SHUTDOWN_SECONDS to finish. */
  close(options?: { drain?: boolean }): Promise<void>;
}

/** What the command line and tests get too: the inside of the service. */
export interface OpenServer extends RunningServer {
  service: Service;
}

/** `cause` is the error of the operating system. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';

  readonly settings: AddressSettings;

  constructor(settings: AddressSettings, cause: unknown) {
    super(`${settings.port.name} could not be opened`, { cause });
    this.settings = settings;
  }
}

export interface AddressSettings {
  readonly host: { readonly name: 'HOST' | 'ADMIN_HOST'; readonly value: string };
  readonly port: { readonly name: 'PORT' | 'ADMIN_PORT'; readonly value: number };
}

/** An operator has settings for the rest. */
export interface StartOptions {
  /** Takes a copied database back into use. */
  evenIfCopied?: boolean;
  /** Takes a SQLite database as it is that may lack its last changes. */
  evenIfIncomplete?: boolean;
  /** Takes EVENTS_KEY in the place of the key that the database knows. */
  isNewEventsKey?: boolean;
  onCopied?: ((copied: CopiedDatabase) => void) | undefined;
}

/** What tests can change too. */
export interface TestOptions extends StartOptions {
  clock?: Clock;
  monotonic?: Clock;
  timeouts?: Timeouts;
  intercept?: Intercept;
  delivery?: DeliverySettings;
  work?: ServiceOptions['work'];
  /** Of the names of client documents. Default: as the machine resolves them. */
  resolve?: Resolve;
}

/** @param log - from `openLog`; with another one, AUDIT=required knows of no loss */
export async function startServer(
  settings: Settings,
  log: Logger,
  {
    clock = Date.now,
    monotonic,
    timeouts = TIMEOUTS,
    intercept,
    delivery,
    work,
    resolve,
    evenIfCopied = false,
    evenIfIncomplete = false,
    isNewEventsKey: isNew = false,
    onCopied,
  }: TestOptions = {},
): Promise<OpenServer> {
  const { databaseUrl, auditDays, revokedGrantDays, minFreeMb } = settings;
  const auditIsRequired = settings.audit === 'required';
  const metrics = settings.metrics ? await loadMetrics() : null;
  const tracing = await loadTracing();
  const demo = isDemo(settings) ? await loadDemo() : null;
  const events = demo === null ? eventsFrom(settings) : demo.createDemoEvents();
  // The demo has another key at each start, and no endpoint but its own.
  const eventsKeys = demo === null && events ? { ...fingerprintsOf(events.keys()), isNew } : null;
  const observers = [metrics?.observeStore, tracing?.observeStore];
  const opened = await openService(databaseUrl, log, {
    clock,
    ...(monotonic && { monotonic }),
    auditDays,
    minFreeMb,
    keepsReserve: true,
    auditIsRequired,
    revokedGrantDays,
    work,
    claim: { evenIfCopied, eventsKeys, ...(evenIfIncomplete && { incomplete: 'accept' }) },
    onCopied,
    linking: linkingFrom(settings, { clock, monotonic, resolve }),
    events: events && { ...events, delivery },
    redact: redactorFor(settings.secrets),
    settings: () => settingsInForce(settings),
    watcher: {
      storeObservers: observers.filter((observer) => observer !== undefined),
      housekeepingFailed: () => metrics?.housekeepingFailed(),
      events: events === null ? undefined : metrics?.observeEvents(),
    },
  });
  const limits = createLimits(settings.rateLimit, opened, log, (limit) =>
    metrics?.rateLimited(limit),
  );
  const draining = new AbortController();
  const servers: Server[] = [];
  const open = (
    routes: PortRoutes,
    service: Service,
    options: Pick<HttpOptions, 'settings' | 'loopbackRoutes'>,
  ) => {
    const server = createHttpServer(
      { service, limits, intercept, traceCall: tracing?.traceCall },
      {
        ...options,
        log,
        metrics,
        traceRequest: tracing?.traceRequest,
        timeouts,
        routes,
        draining: draining.signal,
      },
    );
    servers.push(server);
    return server;
  };

  const { host, port, adminHost, adminPort } = settings;
  const hostSetting = { name: 'HOST', value: host } as const;
  let service = opened;
  let url: string;
  let adminUrl: string | null = null;
  try {
    // The public port comes last: once it is open, the service is complete.
    if (adminPort !== null) {
      const adminServer = open('admin', opened, { settings });
      const address = await takeAddress({
        host: adminHost === null ? hostSetting : { name: 'ADMIN_HOST', value: adminHost },
        port: { name: 'ADMIN_PORT', value: adminPort },
      });
      adminUrl = urlOf(address);
      adminServer.listen(address);
    }
    const address = await takeAddress({ host: hostSetting, port: { name: 'PORT', value: port } });
    // Without PUBLIC_URL, the demo needs the address before there are routes.
    url = urlOf(address);
    const complete = demo === null ? settings : demo.withLinkingDemo(settings, url);
    service = {
      ...opened,
      linking: linkingFrom(complete, { clock, monotonic, resolve }),
      settings: () => settingsInForce(complete),
    };
    const listeningUrl = url;
    open(adminPort === null ? 'all' : 'public', service, {
      settings: complete,
      ...(demo !== null && {
        loopbackRoutes: (tools, homeWith) => demo.demoRoutes(tools, listeningUrl, homeWith),
      }),
    }).listen(address);
    metrics?.collectFrom(service, servers, () => sinkOf(log)?.dropped ?? 0);
    if (demo !== null) {
      await demo.seedLinkingDemo(service, linkingOf(service).publicUrl);
      if (events !== null) await demo.seedDemoEndpoint(service, events, url);
    }
  } catch (error) {
    for (const server of servers) server.close();
    await limits.close();
    await closeService(opened);
    throw error;
  }
  watchService(service);
  const connections = servers.reduce((sum, { maxConnections }) => sum + maxConnections, 0);
  const limit = {
    connections,
    ...(!settings.trustProxy && {
      connections_per_address: shareOfAddress(servers.at(-1) as Server),
    }),
  };
  log.info({ url, ...(adminUrl !== null && { admin_url: adminUrl }), ...limit }, 'listening');

  async function close({ drain = true } = {}) {
    if (drain && settings.drainSeconds > 0) {
      log.info({ seconds: settings.drainSeconds }, 'draining');
      draining.abort();
      await sleep(settings.drainSeconds * 1000);
    }
    const closed = servers.map((server) => once(server, 'close'));
    await Promise.all(
      servers.map(async (server) => {
        await quietTurn(server);
        server.close();
      }),
    );
    log.info('closing');
    const cut = new AbortController();
    const deadline = setTimeout(() => {
      cut.abort();
      log.warn('requests are still running: their connections are closed');
      for (const server of servers) server.closeAllConnections();
    }, settings.shutdownSeconds * 1000);
    await Promise.all([...closed, service.events?.close(cut.signal)]);
    clearTimeout(deadline);
    await limits.close();
    await closeService(service);
    log.info('closed');
  }
  const demoUrl = demo === null ? null : linkingOf(service).publicUrl + demo.demoPaths.application;
  return { url, adminUrl, demoUrl, service, close };
}

/** The server has to listen before the event loop turns: what arrives until then waits for it. */
async function takeAddress(settings: AddressSettings): Promise<NetServer> {
  const address = createNetServer().listen(settings.port.value, settings.host.value);
  try {
    await once(address, 'listening');
  } catch (error) {
    throw new CannotListen(settings, error);
  }
  return address;
}

function urlOf(server: NetServer): string {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

// A turn accepts one connection. At 10 ms each, as on a busy machine, no turn within a second was
// quiet.
const LONGEST_WAIT_MILLISECONDS = 5_000;

/** Closing resets connections not accepted yet, and proxies do not repeat a POST that they sent. */
async function quietTurn(server: Server): Promise<void> {
  let isQuiet: boolean;
  const note = () => {
    isQuiet = false;
  };
  for (const event of ['connection', 'request']) server.on(event, note);
  const until = performance.now() + LONGEST_WAIT_MILLISECONDS;
  do {
    isQuiet = true;
    await endOfTurn();
  } while (!isQuiet && performance.now() < until);
  for (const event of ['connection', 'request']) server.off(event, note);
}

async function loadDemo() {
  const [demo, routes] = await Promise.all([
    import('./demo/linking-demo.ts'),
    import('./demo/demo-routes.ts'),
  ]);
  return { ...demo, ...routes };
}

async function loadMetrics(): Promise<Metrics> {
  const { createMetrics } = await import('./metrics/metrics.ts');
  return createMetrics();
}
