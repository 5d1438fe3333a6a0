import { once } from 'node:events';
import { fstatSync } from 'node:fs';
import { credentialPattern, credentialPrefixes } from '@latchkey/schema';
import pino, { type DestinationStream, type Logger } from 'pino';
import pretty from 'pino-pretty';
import { percentDecode } from './percent-decode.ts';
import type { Settings } from './settings.ts';

/** A log, and the ways to have all of it written before the process ends. */
export interface Log {
  log: Logger;
  /** Writes what is left, in order, and takes no more. */
  close(): Promise<void>;
  /** Writes what is left at once, for a process that is about to crash. */
  flush(): void;
}

const REDACTED = '[redacted]';
const ANY_PREFIX = Object.values(credentialPrefixes).map((prefix) => `${prefix}_`);

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
    if (ANY_PREFIX.some((prefix) => line.includes(prefix))) {
      clean = clean.replace(credentialPattern, REDACTED);
    }
    for (const secret of exact) clean = clean.replaceAll(secret, REDACTED);
    return clean;
  };
}

// A shorter password would black out half of what is logged, and tell what it is by its gaps.
const SHORTEST_REDACTED_PASSWORD = 8;

/** The settings that have secrets in them. */
export type SecretSettings = Pick<Settings, 'adminSecret' | 'databaseUrl'>;

/** Takes the secrets of these settings, too, out of a line or whatever else is to be kept. */
export function redactorFor(settings: SecretSettings): (text: string) => string {
  return redactor(secretsOf(settings));
}

function secretsOf({ adminSecret, databaseUrl }: SecretSettings): string[] {
  const [, encoded = ''] = /^[a-z+]+:\/\/[^@/]*?:([^@]+)@/.exec(databaseUrl) ?? [];
  const passwords = [...new Set([encoded, percentDecode(encoded)])];
  return [
    ...(adminSecret === null ? [] : [adminSecret]),
    ...passwords.filter((password) => password.length >= SHORTEST_REDACTED_PASSWORD),
  ];
}

/**
 * Whether stderr is a file, which takes what is written at once: to hand it to another thread and hear
 * of it again made an exchange of the benchmark cost 1.12 times the CPU. A pipe is another matter: its
 * reader may pause, and the service must not.
 */
function takesAllAtOnce(): boolean {
  return fstatSync(2).isFile();
}

/**
 * The service's log, on stderr: JSON lines, or pretty on a terminal. stdout stays free for what
 * commands print.
 */
export function createLog(settings: Settings): Log {
  const redact = redactorFor(settings);
  const stream = process.stderr.isTTY
    ? pretty({ destination: 2, sync: true, ignore: 'pid,hostname' })
    : pino.destination({ dest: 2, sync: takesAllAtOnce() });
  let waiting = '';
  const write = () => {
    if (waiting !== '') stream.write(redact(waiting));
    waiting = '';
  };
  const destination: DestinationStream = {
    // The lines of a turn of the event loop together: 16 of them cost 3.5 µs each to write, one by
    // one 4.4 µs.
    write(line) {
      if (waiting === '') setImmediate(write);
      waiting += line;
    },
  };
  return {
    log: pino(
      { level: settings.logLevel, base: null, timestamp: pino.stdTimeFunctions.isoTime },
      destination,
    ),
    async close() {
      write();
      const closed = once(stream, 'close');
      stream.end();
      await closed;
    },
    flush() {
      write();
      if ('flushSync' in stream) stream.flushSync();
    },
  };
}
