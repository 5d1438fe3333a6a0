import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Milliseconds } from '@latchkey/domain/clock';
import pino, { type DestinationStream, type Logger } from 'pino';
import { LINE_BYTES, shortenLines } from './shorten-lines.ts';

export const BUFFER_BYTES = 1_048_576;

// The second half is for the audit lines of changes, and what proves them. At some 470 bytes each, 1,100 fit: more than
// can be running when the first half is full and `AUDIT=required` refuses the next change.
const ORDINARY_BYTES = BUFFER_BYTES / 2;

/** In the object of an audit line; no line shows it. A stranger's page views have the result `done` too. */
export const OF_CHANGE = Symbol('of a change');

export const STALLED_AFTER: Milliseconds = 1_000;

// A pipe holds 64 KiB: read once a millisecond, that is 64 MB/s. A failed write costs some 15 µs,
// so the interval doubles until one succeeds.
const RETRY_AFTER: Milliseconds = 1;
const RETRY_AT_MOST_AFTER: Milliseconds = 500;

const CLOSE_WITHIN: Milliseconds = 1_000;
const FLUSH_WITHIN: Milliseconds = 200;
const CLOSE_RETRY_AFTER: Milliseconds = 10;

const TURN_CHARACTERS = 65_536;

export interface Outage {
  since: number;
  /** Of the last error, such as `ENOSPC`; `EAGAIN` if the reader only slept. */
  code: string;
  dropped: number;
}

export interface LogSinkOptions {
  /** A pipe or a socket must not block. */
  fd: number;
  redact: (lines: string) => string;
  /** Null if programs read the log. */
  prettify: ((lines: string) => string) | null;
  onRecovery: (outage: Outage) => void;
}

/** Never throws, waits for a reader or ends the process. Lines that do not fit are counted. */
export class LogSink implements DestinationStream {
  /** Makes pino set `lastMsg` and `lastObj` (its "destination metadata"). */
  readonly [pino.symbols.needsMetadataGsym] = true;
  lastMsg: unknown;
  lastObj: unknown;
  /** Lines. */
  dropped = 0;

  readonly #options: LogSinkOptions;
  #turn = '';
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #outage: Outage | null = null;
  #refused = false;
  #stalledAt: number | null = null;
  #retryAfter = RETRY_AFTER;
  #retry: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: LogSinkOptions) {
    this.#options = options;
  }

  get isFailing(): boolean {
    const isStalled =
      this.#stalledAt !== null && performance.now() - this.#stalledAt >= STALLED_AFTER;
    return this.#refused || isStalled || this.#waitingBytes >= ORDINARY_BYTES;
  }

  write(line: string): void {
    if (this.#closed) return;
    if (this.#waitingBytes > 0 && !this.#hasRoom(Math.min(line.length, LINE_BYTES))) {
      this.dropped += 1;
      if (this.#outage !== null) this.#outage.dropped += 1;
      return;
    }
    // 16 lines of a turn together cost 3.5 µs each, one by one 4.4 µs.
    if (this.#turn === '') setImmediate(this.#endTurn);
    this.#turn += line;
    if (this.#turn.length >= TURN_CHARACTERS) this.#endTurn();
  }

  async close(): Promise<void> {
    const end = performance.now() + CLOSE_WITHIN;
    // A full disk stays full, so only a stalled reader is waited for.
    while (this.#writeAll() === 'stalled' && performance.now() < end) {
      await sleep(CLOSE_RETRY_AFTER);
    }
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  flush(): void {
    const end = performance.now() + FLUSH_WITHIN;
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (this.#writeAll() === 'stalled' && performance.now() < end) {
      Atomics.wait(never, 0, 0, CLOSE_RETRY_AFTER);
    }
  }

  #hasRoom(length: number): boolean {
    const { lastMsg, lastObj } = this;
    const isChange =
      lastMsg === 'log number' ||
      (lastMsg === 'audit' && (lastObj as { [OF_CHANGE]?: boolean } | null)?.[OF_CHANGE] === true);
    // After a loss, ordinary lines wait until all is written, so that an outage has one gap.
    if (!isChange && this.#outage !== null && this.#outage.dropped > 0) return false;
    const room = isChange ? BUFFER_BYTES : ORDINARY_BYTES;
    return this.#waitingBytes + this.#turn.length + length <= room;
  }

  readonly #endTurn = (): void => {
    if (this.#closed) return;
    this.#queueTurn();
    if (this.#retry !== null || this.#write() === 'done') return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#endTurn();
    }, this.#retryAfter).unref();
    this.#retryAfter = Math.min(this.#retryAfter * 2, RETRY_AT_MOST_AFTER);
  };

  #queueTurn(): void {
    if (this.#turn === '') return;
    const { redact, prettify } = this.#options;
    // Redacted first: half a credential is not recognised.
    const lines = shortenLines(redact(this.#turn));
    const bytes = Buffer.from(prettify === null ? lines : prettify(lines));
    this.#turn = '';
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  #writeAll(): 'done' | 'stalled' | 'refused' {
    do {
      this.#queueTurn();
      const outcome = this.#write();
      if (outcome !== 'done') return outcome;
    } while (this.#turn !== '');
    return 'done';
  }

  #write(): 'done' | 'stalled' | 'refused' {
    try {
      while (this.#waitingBytes > 0) {
        const bytes = this.#waiting.length > 1 ? Buffer.concat(this.#waiting) : this.#waiting[0];
        const written = writeSync(this.#options.fd, bytes as Buffer);
        this.#waiting = [(bytes as Buffer).subarray(written)];
        this.#waitingBytes -= written;
        this.#stalledAt = null;
        this.#retryAfter = RETRY_AFTER;
        this.#refused = false;
      }
    } catch (error) {
      return this.#failed((error as NodeJS.ErrnoException).code ?? 'unknown');
    }
    this.#waiting = [];
    if (this.#outage !== null) this.#recovered(this.#outage);
    return 'done';
  }

  #failed(code: string): 'stalled' | 'refused' {
    this.#outage ??= { since: Date.now(), code, dropped: 0 };
    this.#refused = code !== 'EAGAIN';
    if (this.#refused) {
      this.#outage.code = code;
      return 'refused';
    }
    this.#stalledAt ??= performance.now();
    return 'stalled';
  }

  #recovered(outage: Outage): void {
    this.#outage = null;
    // A slow reader has missed nothing.
    if (outage.dropped > 0 || outage.code !== 'EAGAIN') this.#options.onRecovery(outage);
  }
}

export function sinkOf(log: Logger): LogSink | null {
  const stream = (log as unknown as Record<symbol, unknown>)[pino.symbols.streamSym];
  return stream instanceof LogSink ? stream : null;
}
