import type { OpenMetricsContentType, PrometheusContentType, Registry } from 'prom-client';

/** Where a metric is registered. */
export type Registers = Registry<PrometheusContentType | OpenMetricsContentType>[];
