import type { Tracing } from './tracing.ts';

/** Every copy of the OpenTelemetry API 1.x keeps the registered SDK under this key. */
const REGISTERED = Symbol.for('opentelemetry.js.api.1');

/** Only if the operator registered an SDK before the start. Otherwise tracing costs nothing. */
export async function loadTracing(): Promise<Tracing | null> {
  const registered = (globalThis as Record<symbol, { trace?: unknown } | undefined>)[REGISTERED];
  if (registered?.trace === undefined) return null;
  const { createTracing } = await import('./tracing.ts');
  return createTracing();
}
