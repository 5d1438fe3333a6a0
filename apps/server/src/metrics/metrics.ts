import type { Server } from 'node:http';
import { promisify } from 'node:util';
import { DomainError } from '@latchkey/domain/domain-error';
import type { EventsObserver } from '@latchkey/rules/events/events';
import { type LimitName, limitNames } from '@latchkey/rules/limits/rate-limit-setting';
import type { Service } from '@latchkey/rules/service';
import { errorCodes } from '@latchkey/schema';
import { methodsOf, type StoreObserver } from '@latchkey/store/observe-store';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import { collectDocuments } from './document-metrics.ts';
import { collectEvents, observeEvents } from './event-metrics.ts';
import { createPendingCodes } from './pending-codes.ts';
import type { Registers } from './registers.ts';
import { withinASecond } from './within-a-second.ts';
import { collectWork } from './work-metrics.ts';

/** Known values, never text from a client: Prometheus keeps a time series for each combination. */
interface FinishedCall {
  operation: string;
  wire: 'rest' | 'trpc';
  status: number | null;
  error_code: string | undefined;
}

export interface Metrics {
  observeStore: StoreObserver;
  housekeepingFailed(): void;
  finished(call: FinishedCall, seconds: number): void;
  rateLimited(limit: LimitName): void;
  /** Only where events are on: the service without them has no metrics of them. */
  observeEvents(): EventsObserver;
  collectFrom(service: Service, servers: readonly Server[], droppedLogLines: () => number): void;
  text(): Promise<{ type: string; body: string }>;
}

// A request takes a few milliseconds. The store gives up after 10 s.
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

// Fewer buckets: there are more methods than operations, and each pair is a time series.
const STORE_DURATIONS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 10];

// prom-client names these gauges like counters, which linters refuse. Each has a gauge with the
// same number by type.
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

const STORE_FAILURES = ['store_unavailable', 'outcome_unknown', 'internal_error'] as const;

const HOUSEKEEPING = 'housekeeping';

export function createMetrics(): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  const requests = new Counter({
    name: 'latchkey_requests_total',
    help: 'Finished requests; each call of a tRPC batch counts as one.',
    labelNames: ['operation', 'wire', 'status', 'error_code'],
    registers,
  });
  const durations = new Histogram({
    name: 'latchkey_request_duration_seconds',
    help: 'From the headers of a request to its response; each call of a batch has the duration of the batch.',
    labelNames: ['operation', 'wire'],
    buckets: DURATIONS,
    registers,
  });
  const errors = new Counter({
    name: 'latchkey_errors_total',
    help: 'Requests that failed, by error code, each 0 from the start.',
    labelNames: ['error_code'],
    registers,
  });
  const refusals = new Counter({
    name: 'latchkey_rate_limited_total',
    help: 'Refusals by a rate limit.',
    labelNames: ['limit'],
    registers,
  });
  const storeDurations = new Histogram({
    name: 'latchkey_store_duration_seconds',
    help: 'Calls of the store, successful or not.',
    labelNames: ['method'],
    buckets: STORE_DURATIONS,
    registers,
  });
  const storeFailures = new Counter({
    name: 'latchkey_store_failures_total',
    help: 'Failed calls of the store, within requests and outside of them.',
    labelNames: ['method', 'error_code'],
    registers,
  });

  // For Prometheus, a counter that begins with 1 has not increased: an alert would miss the first
  // failure of a process.
  for (const error_code of errorCodes) errors.inc({ error_code }, 0);
  for (const limit of limitNames) refusals.inc({ limit }, 0);
  const startStoreFailures = (method: string) => {
    for (const error_code of STORE_FAILURES) storeFailures.inc({ method, error_code }, 0);
  };
  startStoreFailures(HOUSEKEEPING);

  return {
    finished({ operation, wire, status, error_code }, seconds) {
      requests.inc({ operation, wire, status: status ?? 'none', error_code: error_code ?? '' });
      durations.observe({ operation, wire }, seconds);
      if (error_code !== undefined) errors.inc({ error_code });
    },

    rateLimited(limit) {
      refusals.inc({ limit });
    },

    async observeStore(method, run) {
      const startedAt = performance.now();
      try {
        return await run();
      } catch (error) {
        storeFailures.inc({ method, error_code: DomainError.from(error).code });
        throw error;
      } finally {
        storeDurations.observe({ method }, (performance.now() - startedAt) / 1000);
      }
    },

    housekeepingFailed() {
      storeFailures.inc({ method: HOUSEKEEPING, error_code: 'store_unavailable' });
    },

    observeEvents: () => observeEvents(registers),

    collectFrom(service, servers, droppedLogLines) {
      methodsOf(service.store).forEach(startStoreFailures);
      collectFromLog(registers, droppedLogLines);
      collectFromServers(registers, servers);
      collectFromStore(registers, service);
      collectWork(registers, service);
      if (service.events !== null) collectEvents(registers, service);
      const documents = service.linking?.clientDocuments ?? null;
      if (documents !== null) collectDocuments(registers, documents);
    },

    async text() {
      return { type: register.contentType, body: await register.metrics() };
    },
  };
}

function collectFromLog(registers: Registers, dropped: () => number): void {
  new Counter({
    name: 'latchkey_log_dropped_total',
    help: 'Lines of the log that are lost, since it could not be written.',
    registers,
    collect() {
      this.reset();
      this.inc(dropped());
    },
  });
}

function collectFromServers(registers: Registers, servers: readonly Server[]): void {
  const counts = servers.map((server) => promisify(server.getConnections.bind(server)));
  const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
  new Gauge({
    name: 'latchkey_connections',
    help: 'Open connections of clients.',
    registers,
    async collect() {
      this.set(sum(await Promise.all(counts.map((count) => count()))));
    },
  });
  new Gauge({
    name: 'latchkey_connections_limit',
    help: 'How many connections of clients may be open.',
    registers,
  }).set(sum(servers.map(({ maxConnections }) => maxConnections)));
  const refused = new Counter({
    name: 'latchkey_connections_refused_total',
    help: 'Connections of clients that were closed at once, since there were too many.',
    registers,
  });
  for (const server of servers) server.on('drop', () => refused.inc());
}

function collectFromStore(registers: Registers, { store, driver, clock }: Service): void {
  new Gauge({
    name: 'latchkey_build_info',
    help: 'The version and the kind of database in use; always 1.',
    labelNames: ['version', 'database'],
    registers,
  }).set({ version: packageJson.version, database: driver.system }, 1);

  const pendingCodes = createPendingCodes(store, clock);
  new Gauge({
    name: 'latchkey_pending_codes',
    help: 'Codes in the database that can still be converted; NaN if it does not say at once.',
    registers,
    async collect() {
      this.set((await pendingCodes()) ?? Number.NaN);
    },
  });

  const measure = withinASecond(() => store.measure());
  new Gauge({
    name: 'latchkey_store_bytes',
    help: 'Size of the database; NaN if it does not say at once.',
    registers,
    async collect() {
      this.set((await measure())?.database_bytes ?? Number.NaN);
    },
  });
  new Gauge({
    name: 'latchkey_store_free_bytes',
    help: 'Free room on the disk of the database; NaN if it does not say at once.',
    registers,
    async collect() {
      this.set((await measure())?.free_bytes ?? Number.NaN);
    },
  });
  if (driver.makesBackups) {
    new Gauge({
      name: 'latchkey_backup_age_seconds',
      help: 'Time since the last `latchkey backup`, +Inf without one; NaN if the database does not say.',
      registers,
      async collect() {
        const measures = await measure();
        const made_at = measures?.backed_up_at ?? Number.NEGATIVE_INFINITY;
        this.set(measures === null ? Number.NaN : (clock() - made_at) / 1000);
      },
    });
  }

  const { connectionPool, clockDifference } = store;
  if (clockDifference !== undefined) {
    new Gauge({
      name: 'latchkey_mongodb_clock_difference_seconds',
      help: "How far the clock of MongoDB is ahead of this machine's; negative if it is behind.",
      registers,
      collect() {
        this.set(clockDifference() / 1000);
      },
    });
  }
  if (connectionPool === undefined) return;
  new Gauge({
    name: 'latchkey_store_connections',
    help: 'Connections to the database, by what they do.',
    labelNames: ['state'],
    registers,
    collect() {
      const { inUse, idle } = connectionPool();
      this.set({ state: 'in_use' }, inUse);
      this.set({ state: 'idle' }, idle);
    },
  });
  new Gauge({
    name: 'latchkey_store_connections_limit',
    help: 'How many connections there may be to one server of the database; 0 for no limit.',
    registers,
  }).set(connectionPool().limit);
  new Gauge({
    name: 'latchkey_store_waiting_calls',
    help: 'Calls that wait for a connection to the database.',
    registers,
    collect() {
      this.set(connectionPool().waiting);
    },
  });
}
