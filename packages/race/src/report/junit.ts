import type { RowResult } from '../measure.ts';
import type { Report } from '../run.ts';
import { outcomeOf, responseOf } from './words.ts';

const ENTITIES: Record<string, string> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };

const xml = (text: string) => text.replaceAll(/[<>&"]/g, (found) => ENTITIES[found] as string);

/** The report as CI systems read it: a row is a test case. */
export function junitOf({ server, date, rows }: Report): string {
  const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
  const attributes = [
    `name="oauth-race ${xml(server)}"`,
    `timestamp="${date.slice(0, 19)}"`,
    `tests="${rows.length}"`,
    `failures="${count('fail')}"`,
    `errors="${count('error')}"`,
    `skipped="${count('skipped')}"`,
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
<testsuite ${attributes.join(' ')}>
${rows.map(caseOf).join('\n')}
</testsuite>
</testsuites>
`;
}

const TAGS = { fail: 'failure', error: 'error', skipped: 'skipped' } as const;

function caseOf(row: RowResult): string {
  const said = xml(outcomeOf(row));
  const result =
    row.verdict === 'pass' || row.verdict === 'note'
      ? ''
      : `<${TAGS[row.verdict]} message="${said}"/>`;
  const output = [`${row.verdict}: ${outcomeOf(row)}`, ...row.responses.map(responseOf)].join('\n');
  return `<testcase classname="oauth-race" name="${row.id}: ${xml(row.title)}">${result}<system-out>${xml(output)}</system-out></testcase>`;
}
