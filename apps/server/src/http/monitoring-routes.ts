import { DomainError } from '@latchkey/domain/domain-error';
import type { Store } from '@latchkey/store/store';
import type { Metrics } from '../metrics/metrics.ts';
import { send, sendJson } from './response.ts';
import type { Route } from './router.ts';

/** @throws DomainError if the service should get no requests */
export type CheckReadiness = () => Promise<void>;

/** @param draining - aborted once the service is about to stop */
export function createReadiness(store: Store, draining: AbortSignal): CheckReadiness {
  return async () => {
    if (draining.aborted) throw new DomainError('shutting_down');
    await store.ping();
  };
}

export function healthRoutes(checkReadiness: CheckReadiness): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      handle: (context) => sendJson(context, 200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      async handle(context) {
        await checkReadiness();
        sendJson(context, 200, { status: 'ready' });
      },
    },
  ];
}

export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    async handle(context) {
      const { type, body } = await metrics.text();
      send(context, 200, type, body);
    },
  };
}
