import type { Metrics } from '../metrics/metrics.ts';
import { answer } from './answer.ts';
import type { Route } from './route.ts';

/** For Prometheus to scrape. */
export function metricsRoute(metrics: Metrics): Route {
  return {
    method: 'GET',
    path: '/metrics',
    async handle(exchange) {
      const { type, body } = await metrics.text();
      answer(exchange, 200, type, body);
    },
  };
}
