import pino, { type LevelWithSilent, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { LINE_BYTES, LogSink, type Outage } from './log-sink.ts';
import { redactorFor } from './redactor.ts';

export interface Log {
  log: Logger;
  close(): Promise<void>;
  flush(): void;
}

const { isColorSupported, prettyFactory } = pretty;

export interface LogOptions {
  level: LevelWithSilent;
  /** See {@link redactorFor}. */
  secrets: ReadonlySet<string>;
}

export function createLog({ level, secrets }: LogOptions): Log {
  const redact = redactorFor(secrets);
  const clean = (lines: string) => shortenLines(redact(lines));
  // Reading `process.stderr` makes a pipe or a socket non-blocking, which the sink needs.
  const format = process.stderr.isTTY ? prettified(clean) : clean;
  const sink = new LogSink({ fd: 2, format, onRecovery: (outage) => reportOutage(log, outage) });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink);
  return { log, close: () => sink.close(), flush: () => sink.flush() };
}

// `serve` has told a terminal the address, and the numbers prove something of a log that is kept.
const NOT_FOR_PEOPLE = /"msg":"(?:listening|log number)"\}$/;

function prettified(clean: (lines: string) => string): (lines: string) => string {
  const prettify = prettyFactory({ ignore: 'pid,hostname', colorize: isColorSupported });
  const isForPeople = (line: string) => line !== '' && !NOT_FOR_PEOPLE.test(line);
  return (lines) => clean(lines).split('\n').filter(isForPeople).map(prettify).join('');
}

function reportOutage(logger: Logger, { since, code, dropped }: Outage): void {
  // Like an audit line, at every level except `silent`.
  const log = ['error', 'fatal'].includes(logger.level)
    ? logger.child({}, { level: 'warn' })
    : logger;
  log.warn(
    { dropped, since: new Date(since).toISOString(), code },
    'the log is written again after lines were refused',
  );
}

// A UTF-16 unit is at most 3 bytes of UTF-8, so most lines need no counting.
const SURELY_SHORT = Math.floor(LINE_BYTES / 3);

// The first bound keeps a stack of some ten frames. The last one fits any line.
const STRING_BOUNDS = [1_024, 512, 256, 128, 64];

const MOST_MEMBERS = 32;
const DEEPEST = 4;

/** Still one JSON object. Redact first: half a credential is not recognised. */
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
