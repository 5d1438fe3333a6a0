import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dashboard, queriesOf, rulesFile, ruleTestsFile } from './support/deploy.ts';
import { tableBelow } from './support/markdown.ts';
import { expectKnown, metricTypes } from './support/metrics.ts';

// Checks the alerts and the dashboard in deploy/ against the metrics of the service.

const page = new URL('../docs/operations/monitoring.md', import.meta.url);
const monitoring = await readFile(page, 'utf8');
const labels = new Set(
  tableBelow(monitoring, 'Metrics').flatMap(([, , names = '']) => names.split(', ')),
);

let folder: string;
let metrics: Set<string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-monitoring-'));
  metrics = new Set((await metricTypes(folder)).keys());
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe('the alerts', async () => {
  const { groups } = await rulesFile();
  const rules = groups.flatMap((group) => group.rules);

  test('select metrics and labels that exist', () => {
    for (const { expr } of rules) expectKnown(expr, metrics, labels);
  });

  test('are documented with their severity', () => {
    const documented = tableBelow(monitoring, 'Alerts').map((cells) => cells.slice(0, 2));
    expect(documented).toEqual(rules.map(({ alert, labels: { severity } }) => [alert, severity]));
  });

  test('each have a test that raises it, and one that does not', async () => {
    const checks = (await ruleTestsFile()).tests.flatMap((each) => each.alert_rule_test);
    for (const raised of [true, false]) {
      const tested = checks.filter(({ exp_alerts }) => exp_alerts.length > 0 === raised);
      const names = new Set(tested.map(({ alertname }) => alertname));
      expect([...names].sort()).toEqual(rules.map(({ alert }) => alert).sort());
    }
  });

  // The series of `latchkey_errors_total` exist from the start, so that an increase from 0 is seen.
  test('on an error count the series that exist from the start', () => {
    const onErrors = rules.filter(({ expr }) => expr.includes('error_code='));
    expect(onErrors).toHaveLength(3);
    for (const { expr } of onErrors) expect(expr).not.toContain('latchkey_requests_total');
  });
});

describe('the dashboard', async () => {
  const panels = (await dashboard()).panels;

  test('selects metrics and labels that exist', () => {
    const queries = panels.flatMap(queriesOf);
    expect(queries.length).toBeGreaterThan(15);
    for (const query of queries) expectKnown(query, metrics, labels);
  });

  test('shows every metric of the service', () => {
    const shown = panels.flatMap(queriesOf).join('\n');
    for (const name of metrics) if (name.startsWith('latchkey_')) expect(shown).toContain(name);
  });

  test('has panels that do not overlap', () => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});
