import type { Tracing } from './tracing.ts';

/** Under this key, every copy of the OpenTelemetry API 1.x keeps what an SDK has registered. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/**
 * Loads the OpenTelemetry API only if the operator's SDK has registered a tracer provider, which it
 * has to do before the start. Otherwise nothing is traced, at no cost.
 */
export async function loadTracing(): Promise<Tracing | null> {
  const registered = (globalThis as Record<symbol, { trace?: unknown } | undefined>)[REGISTERED];
  if (registered?.trace === undefined) return null;
  const { createTracing } = await import('./tracing.ts');
  return createTracing();
}
