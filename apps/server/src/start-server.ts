import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from './clock.ts';
import { createHttpServer } from './http/create-server.ts';
import { DEADLINES, type Deadlines } from './http/deadlines.ts';
import { type Intercept, passOn } from './http/intercept.ts';
import { createLimits } from './limits/limits.ts';
import type { Metrics } from './metrics/metrics.ts';
import { closeService, openService, type Service } from './service.ts';
import type { Settings } from './settings.ts';

/** A server that listens. */
export interface RunningServer {
  /** Where it listens, without a slash at its end. */
  url: string;
  service: Service;
  /**
   * Stops accepting, lets the requests that are under way finish, for as long as the settings say,
   * and closes the store.
   */
  close(): Promise<void>;
}

/** What tests set, and nobody who runs the service. */
export interface StartOptions {
  /** Tells the time; the system's by default. */
  clock?: Clock;
  /** For callers; {@link DEADLINES} by default. */
  deadlines?: Deadlines;
  /** Stands around every call of an operation; nothing does by default. */
  intercept?: Intercept;
}

/** Starts the service. */
export async function startServer(
  settings: Settings,
  log: Logger,
  { clock = Date.now, deadlines = DEADLINES, intercept = passOn }: StartOptions = {},
): Promise<RunningServer> {
  const service = await openService(settings.databaseUrl, log, clock, settings.auditDays);
  const metrics = settings.metrics ? await loadMetrics(settings) : null;
  const limits = createLimits(settings.rateLimit, service, log, (limit) =>
    metrics?.rateLimited(limit),
  );
  const around = { limits, metrics, deadlines, intercept };
  const server = createHttpServer(service, settings, log, around);
  server.listen(settings.port, settings.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    await limits.close();
    await closeService(service);
    throw error;
  }
  const { address, family, port } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  log.info({ url }, 'listening');

  async function close() {
    log.info('closing');
    const closed = once(server, 'close');
    server.close();
    const deadline = setTimeout(() => {
      log.warn('requests were still under way and are cut off');
      server.closeAllConnections();
    }, settings.shutdownSeconds * 1000);
    await closed;
    clearTimeout(deadline);
    await limits.close();
    await closeService(service);
    log.info('closed');
  }
  return { url, service, close };
}

/** Loaded only where somebody asks for them: a start without them doesn't pay for the package. */
async function loadMetrics({ databaseUrl }: Settings): Promise<Metrics> {
  const { createMetrics } = await import('./metrics/metrics.ts');
  return createMetrics(databaseUrl.startsWith('file:') ? 'sqlite' : 'mongodb');
}
