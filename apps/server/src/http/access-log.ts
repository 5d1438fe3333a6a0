import type { Logger } from 'pino';
import type { RequestContext } from './request-context.ts';

/** Writes one line for a request that got its response, or whose client went away. */
export type AccessLog = (context: RequestContext, startedAt: number) => void;

export function createAccessLog(log: Logger): AccessLog {
  return (context, startedAt) => {
    const { request, response, calls } = context;
    const [first] = calls;
    log.info(
      {
        request_id: context.requestId,
        method: request.method,
        route: context.route,
        status: response.headersSent ? response.statusCode : null,
        duration_ms: Math.round((performance.now() - startedAt) * 1000) / 1000,
        address: context.recorded.address,
        application_id: first?.application_id,
        admin_secret: first?.admin_secret,
        // The calls of a batch share one Authorization header, so one application. They differ in
        // their grants and results.
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
  };
}
