import { credentialPattern } from '@latchkey/schema';
import pino, { type Logger } from 'pino';
import pretty from 'pino-pretty';
import { percentDecode } from '../percent-decode.ts';
import type { Settings } from '../settings.ts';
import { shortenLines } from './log-line.ts';
import { LogSink, type Outage } from './log-sink.ts';

export interface Log {
  log: Logger;
  close(): Promise<void>;
  flush(): void;
}

const { isColorSupported, prettyFactory } = pretty;

const REDACTED = '[redacted]';
// The start of every prefix. Most lines are searched once instead of once per prefix.
const ANY_PREFIX = 'lk_';

export function redactor(secrets: readonly string[]): (line: string) => string {
  const exact = secrets.flatMap((secret) => {
    // A message may contain it escaped for JSON or as it is.
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

// A shorter password would black out half of the log, and its gaps would reveal it.
const SHORTEST_REDACTED_PASSWORD = 8;

export type SecretSettings = Pick<Settings, 'adminSecret' | 'adminSecretPrevious' | 'databaseUrl'>;

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

export function createLog(settings: Pick<Settings, 'logLevel'> & SecretSettings): Log {
  const redact = redactorFor(settings);
  const clean = (lines: string) => shortenLines(redact(lines));
  // Reading `process.stderr` makes a pipe or a socket non-blocking, which the sink needs.
  const format = process.stderr.isTTY ? prettified(clean) : clean;
  const sink = new LogSink({ fd: 2, format, onRecovery: (outage) => reportOutage(log, outage) });
  const log = pino(
    { level: settings.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    sink,
  );
  return { log, close: () => sink.close(), flush: () => sink.flush() };
}

function prettified(clean: (lines: string) => string): (lines: string) => string {
  const prettify = prettyFactory({ ignore: 'pid,hostname', colorize: isColorSupported });
  return (lines) => clean(lines).split('\n').filter(Boolean).map(prettify).join('');
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
