import { expect } from 'vitest';
import { environment, startService } from './service.ts';

// Each kind of database has metrics of its own. Those of MongoDB do not need one that responds.
const databases = ['file::memory:', 'mongodb://127.0.0.1:1/latchkey'];

const secret = (of: string) => `a-secret-of-32-characters-for-${of}`;

/** What GET /metrics of a new process responds with, for each kind of database. */
export function metricTexts(cwd: string): Promise<string[]> {
  return Promise.all(
    databases.map(async (DATABASE_URL) => {
      const env = environment({
        ...{ METRICS: 'on', DATABASE_URL },
        // Without events, there are no metrics of them.
        ...{ ADMIN_SECRET: secret('admin'), EVENTS_KEY: secret('events') },
        // Nor, without client documents, of fetches.
        ...{ SIGN_IN_URL: 'http://localhost:8090/sign-in', CLIENT_DOCUMENTS: 'any' },
        PUBLIC_URL: 'http://127.0.0.1:3000',
      });
      const service = await startService({ cwd, env });
      // The second one counts the first.
      await (await fetch(`${service.url}/metrics`)).text();
      const text = await (await fetch(`${service.url}/metrics`)).text();
      expect(await service.stop()).toBe(0);
      return text;
    }),
  );
}

/** The type of each metric that the service has on one of its databases. */
export async function metricTypes(cwd: string): Promise<Map<string, string>> {
  const types = (await metricTexts(cwd)).flatMap((text) => [
    ...text.matchAll(/^# TYPE (\w+) (\w+)$/gm),
  ]);
  return new Map(types.map(([, name = '', type = '']) => [name, type]));
}

// Of every scrape.
const OF_PROMETHEUS = new Set(['le', 'job', 'instance']);

/**
 * Expects that a query selects only metrics and labels that exist: Prometheus would return nothing
 * for any other.
 */
export function expectKnown(query: string, metrics: Set<string>, labels: Set<string>): void {
  const names = [...query.matchAll(/\b(?:latchkey|process|nodejs)_\w+|\bup\b/g)];
  expect(names, query).not.toHaveLength(0);
  for (const [name] of names) {
    if (name !== 'up') expect(metrics, query).toContain(name.replace(/_bucket$/, ''));
  }
  const matched = [...query.matchAll(/[{,]\s*(\w+)\s*[=!]/g)].map(([, label = '']) => label);
  const grouped = [...query.matchAll(/\b(?:by|on) \(([\w, ]+)\)/g)];
  const used = [...matched, ...grouped.flatMap(([, list = '']) => list.split(', '))];
  for (const label of used) {
    if (!OF_PROMETHEUS.has(label)) expect(labels, query).toContain(label);
  }
}
