/** The longest line that is written. */
export const LINE_BYTES = 4_096;

// A UTF-16 unit is at most 3 bytes of UTF-8, so most lines need no counting.
const SURELY_SHORT = Math.floor(LINE_BYTES / 3);

// The first bound keeps a stack of some ten frames. The last one fits any line.
const STRING_BOUNDS = [1_024, 512, 256, 128, 64];

const MOST_MEMBERS = 32;
const DEEPEST = 4;

/** Each is still one JSON object. */
export function shortenLines(lines: string): string {
  if (lines.length <= SURELY_SHORT) return lines;
  let result = '';
  let unchangedFrom = 0;
  for (let start = 0; start < lines.length; ) {
    const end = lines.indexOf('\n', start) + 1 || lines.length;
    if (end - start > SURELY_SHORT) {
      const line = lines.slice(start, end);
      if (Buffer.byteLength(line) > LINE_BYTES) {
        result += `${lines.slice(unchangedFrom, start)}${shortened(line)}\n`;
        unchangedFrom = end;
      }
    }
    start = end;
  }
  return result + lines.slice(unchangedFrom);
}

function shortened(line: string): string {
  const entry = JSON.parse(line) as Record<string, unknown>;
  for (const bound of STRING_BOUNDS) {
    const text = JSON.stringify({ ...(cut(entry, bound, 0) as object), truncated: true });
    if (Buffer.byteLength(text) < LINE_BYTES) return text;
  }
  const { level, time, msg, request_id } = entry;
  const kept = { level, time, request_id, msg };
  return JSON.stringify({ ...(cut(kept, 128, 0) as object), truncated: true });
}

function cut(value: unknown, bound: number, depth: number): unknown {
  if (typeof value === 'string') {
    return value.length > bound ? `${value.slice(0, bound - 1).toWellFormed()}…` : value;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEEPEST) return '…';
  if (Array.isArray(value)) {
    return value.slice(0, MOST_MEMBERS).map((item) => cut(item, bound, depth + 1));
  }
  // `msg` is last in a line, and says most.
  const members = Object.entries(value);
  const kept =
    members.length > MOST_MEMBERS
      ? [...members.slice(0, MOST_MEMBERS - 1), ...members.slice(-1)]
      : members;
  return Object.fromEntries(kept.map(([key, item]) => [key, cut(item, bound, depth + 1)]));
}
