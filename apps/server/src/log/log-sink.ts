import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Milliseconds } from '../clock.ts';
import { LINE_BYTES } from './log-line.ts';

/** How many bytes of lines wait for a sink that takes none. Beyond it the newest are dropped. */
export const BUFFER_BYTES = 1_048_576;

// The second half is for the audit lines of changes that were made. At some 400 bytes each it takes
// 1,300 of them: more than are under way when the first half is full and `AUDIT=required` refuses
// the next.
const ORDINARY_BYTES = BUFFER_BYTES / 2;

/** A sink that takes nothing for so long counts as failing. A busy reader is back in milliseconds. */
export const STALLED_AFTER: Milliseconds = 1_000;

// A pipe holds 64 KiB: if its reader empties it within a millisecond, it gets 64 MB/s. A write that
// fails costs some 15 µs, so the interval doubles for as long as none succeeds.
const RETRY_AFTER: Milliseconds = 1;
const RETRY_AT_MOST_AFTER: Milliseconds = 500;

/** How long the end of the process waits for a reader that pauses. */
const CLOSE_WITHIN: Milliseconds = 1_000;
/** The same before a crash, where nothing else runs meanwhile. */
const FLUSH_WITHIN: Milliseconds = 200;
const CLOSE_RETRY_AFTER: Milliseconds = 10;

// Lines of one turn of the event loop are written together; a turn that logs more writes earlier.
const TURN_CHARACTERS = 65_536;

/** A time in which the sink did not take what was written. */
export interface Outage {
  /** Milliseconds since 1970. */
  since: number;
  /** Of the last error, such as `ENOSPC`; `EAGAIN` if the reader was asleep and nothing else failed. */
  code: string;
  /** Lines that are lost. */
  dropped: number;
}

export interface LogSinkOptions {
  /** Where to write. A pipe or a socket must not block. */
  fd: number;
  /** Turns lines into what is written. */
  format: (lines: string) => string;
  /** Called when the sink has taken all that waited after an error or a loss. */
  onRecovery: (outage: Outage) => void;
}

/**
 * Writes log lines to a file, a pipe, a socket or a device that may refuse them. It never throws, never
 * waits for a reader, and never ends the process: what is refused waits in a bounded buffer, and what
 * the buffer cannot take is counted.
 */
export class LogSink implements DestinationStream {
  /** Asks pino for `lastMsg` and `lastObj` (its "destination metadata"). */
  readonly [pino.symbols.needsMetadataGsym] = true;
  lastMsg: unknown;
  lastObj: unknown;

  readonly #options: LogSinkOptions;
  /** Lines of this turn of the event loop, as pino wrote them. */
  #turn = '';
  /** What the sink did not take yet. The first may have been written in part. */
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #outage: Outage | null = null;
  /** The last write failed for another reason than a reader that is asleep. */
  #refused = false;
  #stalledAt: number | null = null;
  #retryAfter = RETRY_AFTER;
  #retry: NodeJS.Timeout | null = null;
  #dropped = 0;
  #closed = false;

  constructor(options: LogSinkOptions) {
    this.#options = options;
  }

  /** How many lines were lost since the start. */
  get dropped(): number {
    return this.#dropped;
  }

  /**
   * Whether a line that is logged now may be lost: the last write was refused, nothing was taken for
   * {@link STALLED_AFTER}, or the part of the buffer for ordinary lines is full.
   */
  get isFailing(): boolean {
    const isStalled =
      this.#stalledAt !== null && performance.now() - this.#stalledAt >= STALLED_AFTER;
    return this.#refused || isStalled || this.#waitingBytes >= ORDINARY_BYTES;
  }

  write(line: string): void {
    if (this.#closed) return;
    if (!this.#hasRoom(Math.min(line.length, LINE_BYTES))) {
      this.#dropped += 1;
      if (this.#outage !== null) this.#outage.dropped += 1;
      return;
    }
    // The lines of a turn together: 16 of them cost 3.5 µs each to write, one by one 4.4 µs.
    if (this.#turn === '') setImmediate(this.#endTurn);
    this.#turn += line;
    if (this.#turn.length >= TURN_CHARACTERS) this.#endTurn();
  }

  /** Writes what waits, for at most a second, and takes no more. */
  async close(): Promise<void> {
    const end = performance.now() + CLOSE_WITHIN;
    // A refusal is not worth waiting for: a full disk stays full.
    while (this.#writeAll() === 'stalled' && performance.now() < end) {
      await sleep(CLOSE_RETRY_AFTER);
    }
    this.#closed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
  }

  /** Writes what waits at once, before a crash. */
  flush(): void {
    const end = performance.now() + FLUSH_WITHIN;
    const never = new Int32Array(new SharedArrayBuffer(4));
    while (this.#writeAll() === 'stalled' && performance.now() < end) {
      Atomics.wait(never, 0, 0, CLOSE_RETRY_AFTER);
    }
  }

  #hasRoom(length: number): boolean {
    if (this.#waitingBytes === 0) return true;
    const { lastMsg, lastObj } = this;
    const isChange =
      lastMsg === 'audit' && (lastObj as { result?: unknown } | null)?.result === 'done';
    // After a loss ordinary lines wait until all is written, so that an outage has one gap.
    if (!isChange && this.#outage !== null && this.#outage.dropped > 0) return false;
    const room = isChange ? BUFFER_BYTES : ORDINARY_BYTES;
    return this.#waitingBytes + this.#turn.length + length <= room;
  }

  readonly #endTurn = (): void => {
    if (this.#closed) return;
    this.#queueTurn();
    if (this.#retry === null) this.#attempt();
  };

  #queueTurn(): void {
    if (this.#turn === '') return;
    const bytes = Buffer.from(this.#options.format(this.#turn));
    this.#turn = '';
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
  }

  /** Writes what waits, and comes back later for what the sink does not take. */
  #attempt(): void {
    if (this.#write() === 'done') return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.#attempt();
    }, this.#retryAfter).unref();
    this.#retryAfter = Math.min(this.#retryAfter * 2, RETRY_AT_MOST_AFTER);
  }

  /** Writes everything, the line about a recovery included. */
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
    this.#recovered();
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

  #recovered(): void {
    const outage = this.#outage;
    this.#outage = null;
    // A reader that only was slow has everything.
    if (outage !== null && (outage.dropped > 0 || outage.code !== 'EAGAIN')) {
      this.#options.onRecovery(outage);
    }
  }
}

/** The sink of a log that `createLog` made. Null for any other, whose losses are not known here. */
export function sinkOf(log: Logger): LogSink | null {
  const stream = (log as unknown as Record<symbol, unknown>)[pino.symbols.streamSym];
  return stream instanceof LogSink ? stream : null;
}
