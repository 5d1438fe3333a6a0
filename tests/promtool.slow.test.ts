import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@latchkey/test-kit/free-port';
import { isLong } from '@latchkey/test-kit/long';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dashboard, deploy, queriesOf, ruleTestsFile } from './support/deploy.ts';
import { codeBlocks } from './support/markdown.ts';
import { metricTexts } from './support/metrics.ts';
import { environment, run, startService, succeed } from './support/service.ts';
import { describeWith } from './support/tools.ts';

/** Writes out the short forms of promtool: `_x2` is two gaps, `1x2` three ones, `1+2x2` is 1, 3, 5. */
const samples = (values: string): string[] =>
  values.split(' ').flatMap((word) => {
    const [, first = '', step = '0', more = '0'] =
      /^(_|Inf|[\d.]+)(?:\+(\d+))?(?:x(\d+))?$/.exec(word) ?? [];
    if (first === '') throw new Error(`${word} is not understood.`);
    if (first === '_') return Array<string>(Math.max(1, Number(more))).fill('_');
    const at = (index: number) =>
      first === 'Inf' ? first : `${Number(first) + index * Number(step)}`;
    return Array.from({ length: Number(more) + 1 }, (_, index) => at(index));
  });

await describeWith('promtool', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-promtool-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  // A minute is the default of Prometheus. The file has a value each 15 s.
  test.each([1, 2, 4])(
    'proves when each alert is raised, with %i × 15 s between scrapes',
    async (every) => {
      const file = await ruleTestsFile();
      const interval = `${15 * every}s`;
      const scraped = {
        ...file,
        rule_files: [deploy('prometheus/latchkey.rules.yml')],
        // Not on the second of the scrapes: there, a window of a minute has two samples in place of one.
        evaluation_interval: `${15 * every - 1}s`,
        tests: file.tests.map((each) => ({
          ...each,
          interval,
          input_series: each.input_series.map(({ series, values }) => ({
            series,
            values: samples(values)
              .filter((_, index) => index % every === 0)
              .join(' '),
          })),
        })),
      };
      const tests = join(folder, `${interval}.test.yml`);
      await writeFile(tests, JSON.stringify(scraped));
      const said = await succeed('promtool', ['test', 'rules', tests], { env: environment() });
      expect(said).toContain('SUCCESS');
    },
  );

  // Takes over three minutes: how long the alert waits.
  if (isLong) {
    test('comes with a Prometheus that raises the alert of a database that is down', {
      timeout: 15 * 60_000,
    }, async () => {
      const DATABASE_URL = 'mongodb://127.0.0.1:1/latchkey';
      const env = environment({ METRICS: 'on', DATABASE_URL });
      const service = await startService({ cwd: folder, env });
      const page = new URL('../docs/operations/monitoring.md', import.meta.url);
      const documented = codeBlocks(await readFile(page, 'utf8')).find(({ code }) =>
        code.includes('scrape_configs:'),
      );
      const config = documented?.code
        .replace('latchkey.rules.yml', deploy('prometheus/latchkey.rules.yml'))
        .replace('127.0.0.1:3000', `127.0.0.1:${service.port}`);
      const global = 'global: { scrape_interval: 15s, evaluation_interval: 15s }';
      await writeFile(join(folder, 'prometheus.yml'), `${global}\n${config}`);
      const address = `127.0.0.1:${await freePort()}`;
      const words = ['--config.file=prometheus.yml', `--web.listen-address=${address}`];
      const prometheus = spawn('prometheus', words, { cwd: folder, stdio: 'ignore' });
      const alerts = async (): Promise<string[]> => {
        // A load balancer asks: each failure counts.
        await fetch(`${service.url}/readyz`);
        const { data } = (await (await fetch(`http://${address}/api/v1/alerts`)).json()) as {
          data: { alerts: { state: string; labels: { alertname: string } }[] };
        };
        const firing = data.alerts.filter(({ state }) => state === 'firing');
        return firing.map(({ labels }) => labels.alertname);
      };
      await expect
        .poll(alerts, { interval: 5_000, timeout: 10 * 60_000 })
        .toContain('LatchkeyStoreUnavailable');
      prometheus.kill();
      await once(prometheus, 'exit');
      await service.stop();
    });
  }

  test('finds nothing in the metrics of a service', async () => {
    for (const text of await metricTexts(folder)) {
      const file = join(folder, 'metrics.txt');
      await writeFile(file, text);
      const words = [
        '-c',
        'promtool check metrics --extended < "$1" | tail -n +2 | wc -l',
        'sh',
        file,
      ];
      await succeed('sh', ['-c', 'promtool check metrics < "$1"', 'sh', file], {
        env: environment(),
      });
      // It has read the samples: its table has a row for each metric.
      const rows = Number((await run('sh', words, { env: environment() })).stdout);
      expect(rows).toBeGreaterThan(20);
    }
  });

  test('can parse the queries of the dashboard', async () => {
    const queries = (await dashboard()).panels.flatMap(queriesOf);
    const rules = queries.map((query, index) => ({
      record: `dashboard:query_${index}`,
      expr: query.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'),
    }));
    const file = join(folder, 'dashboard.json');
    await writeFile(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    const said = await succeed('promtool', ['check', 'rules', file], { env: environment() });
    expect(said).toContain(`${queries.length} rules found`);
  });
});
