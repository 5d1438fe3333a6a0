import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import packageJson from '../../package.json' with { type: 'json' };
import type { RateLimitName } from '../limits/rate-limit-setting.ts';

/**
 * One call that was answered. Every member is one of a few words that are known beforehand, and
 * never what a caller sent: each combination is a series that is kept.
 */
export interface AnsweredCall {
  /** The operation, or the route that is none; `unknown` where nothing matched. */
  operation: string;
  wire: 'rest' | 'trpc';
  /** Null where the caller went away before it was answered. */
  status: number | null;
  error_code: string | undefined;
}

/** What the service counts of itself. */
export interface Metrics {
  /** @param seconds - what the whole request took; a batch has several calls */
  answered(call: AnsweredCall, seconds: number): void;
  rateLimited(limit: RateLimitName): void;
  /** Everything, in the text format of Prometheus. */
  text(): Promise<{ type: string; body: string }>;
}

// A request takes a few milliseconds; 10 s is when the store gives up.
const DURATIONS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** @param database - what kind of store is in use */
export function createMetrics(database: 'sqlite' | 'mongodb'): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  const requests = new Counter({
    name: 'latchkey_requests_total',
    help: 'Requests that were answered; each call of a tRPC batch is one.',
    labelNames: ['operation', 'wire', 'status', 'error_code'],
    registers,
  });
  const durations = new Histogram({
    name: 'latchkey_request_duration_seconds',
    help: 'From the header section of a request to its answer; the calls of a batch have its own.',
    labelNames: ['operation', 'wire'],
    buckets: DURATIONS,
    registers,
  });
  const refusals = new Counter({
    name: 'latchkey_rate_limited_total',
    help: 'Refusals by a rate limit.',
    labelNames: ['limit'],
    registers,
  });
  const build = new Gauge({
    name: 'latchkey_build_info',
    help: 'What runs here; always 1.',
    labelNames: ['version', 'database'],
    registers,
  });
  build.set({ version: packageJson.version, database }, 1);

  return {
    answered({ operation, wire, status, error_code = '' }, seconds) {
      requests.inc({ operation, wire, status: status ?? 'none', error_code });
      durations.observe({ operation, wire }, seconds);
    },
    rateLimited(limit) {
      refusals.inc({ limit });
    },
    async text() {
      return { type: register.contentType, body: await register.metrics() };
    },
  };
}
