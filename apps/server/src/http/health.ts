import type { Store } from '../store/store.ts';
import { answerJson } from './answer.ts';
import type { Route } from './route.ts';

/** For load balancers and orchestrators. */
export function healthRoutes(store: Store): Route[] {
  return [
    {
      method: 'GET',
      path: '/healthz',
      handle: (exchange) => answerJson(exchange, 200, { status: 'ok' }),
    },
    {
      method: 'GET',
      path: '/readyz',
      async handle(exchange) {
        await store.ping();
        answerJson(exchange, 200, { status: 'ready' });
      },
    },
  ];
}
