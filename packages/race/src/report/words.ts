import type { ResponseCount, RowResult } from '../measure.ts';

/** `93 once, 7 more than once`, and what was wrong or missing. */
export function outcomeOf({ outcomes, reason }: RowResult): string {
  const counts = Object.entries(outcomes)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${count} ${name}`);
  if (counts.length === 0) return reason ?? '';
  return reason === null ? counts.join(', ') : `${counts.join(', ')}: ${reason}`;
}

/** `700 × 400 invalid_grant, 3 ms (longest 9 ms)`. */
export function responseOf(response: ResponseCount): string {
  const { count, status, error, retryAfter, median, longest } = response;
  // The description of a wrong response begins with its status.
  const what = error?.startsWith(`${status}`) ? error : [status, error].filter(Boolean).join(' ');
  const wait = retryAfter === null ? '' : `, Retry-After: ${retryAfter}`;
  return `${count} × ${what}${wait}, ${median} ms (longest ${longest} ms)`;
}

/** The last line of a report. */
export function summaryOf(rows: readonly RowResult[]): string {
  const count = (verdict: string) => rows.filter((row) => row.verdict === verdict).length;
  return (['pass', 'fail', 'note', 'error', 'skipped'] as const)
    .map((verdict) => `${count(verdict)} ${verdict}`)
    .join(', ');
}
