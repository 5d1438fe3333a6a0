import type { Logger } from 'pino';
import type { Exchange } from './exchange.ts';

/** Writes one line for a request that was answered, or whose caller went away. */
export type AccessLog = (exchange: Exchange, startedAt: number) => void;

export function createAccessLog(log: Logger): AccessLog {
  return (exchange, startedAt) => {
    const { request, response } = exchange;
    log.info(
      {
        request_id: exchange.requestId,
        method: request.method,
        route: exchange.route,
        status: response.headersSent ? response.statusCode : null,
        duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
        address: exchange.address,
        application_id: exchange.application_id,
        grant_id: exchange.grant_id,
        error_code: exchange.error_code,
      },
      'request',
    );
  };
}
