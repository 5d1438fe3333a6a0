import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dashboard, deploy, queriesOf } from './support/deploy.ts';
import { metricTexts } from './support/metrics.ts';
import { environment, run, succeed } from './support/service.ts';
import { describeWith } from './support/tools.ts';

await describeWith('promtool', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-promtool-'));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('proves when each alert is raised', async () => {
    const tests = deploy('prometheus/latchkey.rules.test.yml');
    const said = await succeed('promtool', ['test', 'rules', tests], { env: environment() });
    expect(said).toContain('SUCCESS');
  });

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
