import { credentialPattern } from '@latchkey/schema';
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import { percentDecode } from '../percent-decode.ts';
import type { Settings } from '../settings.ts';
import { shortenLines } from './log-line.ts';
import { LogSink, type Outage } from './log-sink.ts';

/** A log, and the ways to have it written before the process ends. Neither waits for ever. */
export interface Log {
  log: Logger;
  /** Writes what is left, in order, for at most a second, and takes no more. */
  close(): Promise<void>;
  /** Writes what is left at once, for a process that is about to crash. */
  flush(): void;
}

const { isColorSupported, prettyFactory } = pretty;

const REDACTED = '[redacted]';
// What every prefix begins with: one look at a line, which mostly has none, and not one for each.
const ANY_PREFIX = 'lk_';

/**
 * Takes every credential out of a line. Nothing logs one on purpose; this is for what comes from
 * outside, such as a request id of the caller's or the message of a driver's error.
 */
export function redactor(secrets: readonly string[]): (line: string) => string {
  const exact = secrets.flatMap((secret) => {
    // As JSON writes it, and as it is: a message may have been written either way.
    const escaped = JSON.stringify(secret).slice(1, -1);
    return secret === escaped ? [secret] : [escaped, secret];
  });
  return (line) => {
    let clean = line;
    if (line.includes(ANY_PREFIX)) clean = clean.replace(credentialPattern, REDACTED);
    for (const secret of exact) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

// A shorter password would black out half of what is logged, and tell what it is by its gaps.
const SHORTEST_REDACTED_PASSWORD = 8;

/** The settings that have secrets in them. */
export type SecretSettings = Pick<Settings, 'adminSecret' | 'adminSecretPrevious' | 'databaseUrl'>;

/** Takes the secrets of these settings, too, out of a line or whatever else is to be kept. */
export function redactorFor(settings: SecretSettings): (text: string) => string {
  return redactor(secretsOf(settings));
}

function secretsOf({ adminSecret, adminSecretPrevious, databaseUrl }: SecretSettings): string[] {
  const [, encoded = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@]+)@/.exec(databaseUrl) ?? [];
  const passwords = [...new Set([encoded, percentDecode(encoded)])];
  return [
    ...[adminSecret, adminSecretPrevious].filter((secret) => secret !== null),
    ...passwords.filter((password) => password.length >= SHORTEST_REDACTED_PASSWORD),
  ];
}

/**
 * The service's log, on stderr: JSON lines, or pretty on a terminal. stdout stays free for what
 * commands print. What becomes of lines that stderr does not take: see {@link LogSink}.
 */
export function createLog(settings: Pick<Settings, 'logLevel'> & SecretSettings): Log {
  const redact = redactorFor(settings);
  const clean = (lines: string) => shortenLines(redact(lines));
  // Node makes a pipe or a socket non-blocking when `process.stderr` is first read: the sink needs it.
  const format = process.stderr.isTTY ? prettified(clean) : clean;
  const sink = new LogSink({ fd: 2, format, onRecovery: (outage) => reportOutage(log, outage) });
  const log = pino(
    { level: settings.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    sink,
  );
  return { log, close: () => sink.close(), flush: () => sink.flush() };
}

/** Writes lines for people. */
function prettified(clean: (lines: string) => string): (lines: string) => string {
  const prettify = prettyFactory({ ignore: 'pid,hostname', colorize: isColorSupported });
  return (lines) => clean(lines).split('\n').filter(Boolean).map(prettify).join('');
}

function reportOutage(logger: Logger, { since, code, dropped }: Outage): void {
  // As an audit line: written at every level but `silent`.
  const log = ['error', 'fatal'].includes(logger.level)
    ? logger.child({}, { level: 'warn' })
    : logger;
  log.warn(
    { dropped, since: new Date(since).toISOString(), code },
    'the log is written again after lines were refused',
  );
}
