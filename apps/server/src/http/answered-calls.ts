import type { AnsweredCall } from '../metrics/metrics.ts';
import type { Exchange } from './exchange.ts';

/** What was called by a request, once it was answered: over tRPC maybe several procedures. */
export function answeredCalls(exchange: Exchange): AnsweredCall[] {
  const { response, operation, procedures, error_code } = exchange;
  if (procedures === undefined) {
    const status = response.headersSent ? response.statusCode : null;
    return [{ operation: operation ?? 'unknown', wire: 'rest', status, error_code }];
  }
  return procedures.map(({ operation, outcome }) => ({
    operation: operation?.name ?? 'unknown',
    wire: 'trpc',
    status: outcome?.status ?? null,
    error_code: outcome?.error_code,
  }));
}
