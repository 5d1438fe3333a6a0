import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The path of a file in deploy/. */
export const deploy = (path: string): string =>
  fileURLToPath(new URL(`../../deploy/${path}`, import.meta.url));

const read = (path: string) => readFile(deploy(path), 'utf8');

interface Rules {
  groups: { rules: { alert: string; expr: string; labels: { severity: string } }[] }[];
}

interface RuleTests {
  tests: {
    input_series: { series: string; values: string }[];
    alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
  }[];
}

export interface Panel {
  title: string;
  gridPos: Record<'x' | 'y' | 'w' | 'h', number>;
  /** None for a row. */
  targets?: { expr: string }[];
}

export const rulesFile = async (): Promise<Rules> =>
  parse(await read('prometheus/latchkey.rules.yml'));

export const ruleTestsFile = async (): Promise<RuleTests> =>
  parse(await read('prometheus/latchkey.rules.test.yml'));

export const dashboard = async (): Promise<{ panels: Panel[] }> =>
  JSON.parse(await read('grafana/latchkey.json'));

export const queriesOf = ({ targets = [] }: Panel): string[] => targets.map(({ expr }) => expr);
