import pino, { type LevelWithSilent, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { LogSink, type Outage } from './log-sink.ts';
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
  // Reading `process.stderr` makes a pipe or a socket non-blocking, which the sink needs.
  const prettify = process.stderr.isTTY ? createPrettify() : null;
  const onRecovery = (outage: Outage) => reportOutage(log, outage);
  const sink = new LogSink({ fd: 2, redact, prettify, onRecovery });
  const log = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, sink);
  return { log, close: () => sink.close(), flush: () => sink.flush() };
}

// `serve` has told a terminal the address, and the numbers prove something of a log that is kept.
const NOT_FOR_PEOPLE = /"msg":"(?:listening|log number)"\}$/;

function createPrettify(): (lines: string) => string {
  const prettify = prettyFactory({ ignore: 'pid,hostname', colorize: isColorSupported });
  const isForPeople = (line: string) => line !== '' && !NOT_FOR_PEOPLE.test(line);
  return (lines) => lines.split('\n').filter(isForPeople).map(prettify).join('');
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
