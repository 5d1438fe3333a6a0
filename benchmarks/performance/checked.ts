import { table } from '../table.ts';

/** Something to reach, and what was seen of it. */
export interface Checked {
  text: string;
  seen: string;
  isMet: boolean;
}

/** A ratio beside its limit. */
export function checkRatio(
  text: string,
  ratio: number,
  [bound, limit]: ['at least' | 'at most', number],
): Checked {
  const isMet = bound === 'at least' ? ratio >= limit : ratio <= limit;
  return { text, seen: `${ratio.toFixed(2)} ×`, isMet };
}

export function targetTable(checked: readonly Checked[]): string {
  return table([
    ['target', 'seen', 'met'],
    ...checked.map(({ text, seen, isMet }) => [text, seen, isMet ? 'yes' : 'no']),
  ]);
}
