import { DomainError } from '@latchkey/domain/domain-error';
import type { Store } from '@latchkey/store/store';
import type { Metrics } from '../metrics/metrics.ts';
import { send, sendJson } from './response.ts';
import type { Route } from './router.ts';

export function healthRoutes(store: Store, draining: AbortSignal): Route[] {
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
        if (draining.aborted) throw new DomainError('shutting_down');
        await store.ping();
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
