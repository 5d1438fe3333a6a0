import type { Milliseconds } from '@latchkey/domain/clock';
import { formatTimestamp, isUuid } from '@latchkey/schema';
import { z } from 'zod';
import { type MissingSpan, NumberSpans } from './number-spans.ts';

const time = z.iso.datetime();
const count = z.int().nonnegative();
const instance = z.string().refine(isUuid);

const proof = z.discriminatedUnion('msg', [
  z.object({
    ...{ msg: z.literal('audit'), time, instance, line: count },
    // Of a command: its change has a number of the counter, and the time of the change.
    ...{ number: count.optional(), at: time.optional() },
  }),
  z.object({
    ...{ msg: z.literal('log number'), time, instance, number: count, lines: count },
    event: z.enum(['start', 'minute', 'stop']),
  }),
]);

interface Numbered {
  number: number;
  lines: number;
  event: 'start' | 'minute' | 'stop';
  at: Milliseconds;
}

interface Instance {
  lines: NumberSpans;
  numbers: Numbered[];
  last: Milliseconds;
}

export interface LogFindings {
  /** What is missing in the logs for sure. */
  gaps: string[];
  /** What they may lack. */
  unproven: string[];
  /** The highest number that anybody is known to have taken. */
  highest: number;
}

// Each process takes one so often: see `packages/rules/src/audit/log-numbers.ts`.
const NUMBER_EVERY: Milliseconds = 60_000;

/** Whether logs have everything since a backup, by the numbers that each process took: decision 62. */
export class LogCheck {
  readonly #since: Milliseconds;
  readonly #numbers = new NumberSpans();
  readonly #instances = new Map<string, Instance>();
  /** The highest number that was logged before the backup was made. */
  #before: number | null = null;

  constructor(since: Milliseconds) {
    this.#since = since;
  }

  /** Takes any line of a log. */
  see(entry: object): void {
    if (!('instance' in entry)) return;
    const { data } = proof.safeParse(entry);
    if (data === undefined) return;
    const at = Date.parse(data.time);
    const instance = this.#instanceOf(data.instance);
    instance.last = Math.max(instance.last, at);
    if (data.msg === 'log number') {
      const { number, lines, event } = data;
      instance.numbers.push({ number, lines, event, at });
      this.seeNumber(number, at);
    } else {
      instance.lines.add(data.line, at);
      if (data.number !== undefined) this.seeNumber(data.number, Date.parse(data.at ?? data.time));
    }
  }

  seeNumber(number: number, at: Milliseconds): void {
    this.#numbers.add(number, at);
    if (at <= this.#since) this.#before = Math.max(this.#before ?? 0, number);
  }

  /**
   * @param options.counter - the last number of the backup; a service may have gone on from there since
   * @param options.end - the last number of the database that the backup replaces; null if it is not known
   */
  findings({ counter, end }: { counter: number; end: number | null }): LogFindings {
    const { first, last } = this.#numbers;
    const known = Math.max(counter, end ?? 0);
    if (first === null || last === null) {
      return { gaps: ['No log has a number of the service.'], unproven: [], highest: known };
    }
    const begin = this.#begin(counter, first.from);
    const top = Math.max(last.to, end ?? 0, this.#before === null ? 0 : counter);
    const gaps = [...this.#numbers.missing(begin + 1, top)].map(
      (missing) => `${named('number', missing)} of the log ${between(missing)}.`,
    );
    const unproven: string[] = [];
    if (this.#before === null && first.from <= counter) {
      unproven.push(
        `Before the number ${first.from} of the log, at ${formatTimestamp(first.since)}, nothing proves what was done.`,
      );
    }
    for (const [id, instance] of this.#instances) {
      const found = this.#findingsOf(id, instance, begin);
      gaps.push(...found.gaps);
      unproven.push(...found.unproven);
    }
    if (end === null) {
      unproven.push(
        `After the number ${last.to} of the log, at ${formatTimestamp(last.until)}, nothing proves what services and commands did.`,
      );
    }
    return { gaps, unproven, highest: Math.max(top, known) };
  }

  /** The number up to which nothing has to be in the logs. */
  #begin(counter: number, first: number): number {
    if (first > counter) return counter;
    // The counter may be that of a later time: only the logs tell what it was at the backup.
    return this.#before === null ? first - 1 : Math.min(counter, this.#before);
  }

  #findingsOf(
    id: string,
    { lines, numbers, last }: Instance,
    begin: number,
  ): Pick<LogFindings, 'gaps' | 'unproven'> {
    const gaps: string[] = [];
    const unproven: string[] = [];
    if (last >= this.#since) {
      const base = this.#baseOf(lines, numbers, begin);
      const top = Math.max(0, lines.last?.to ?? 0, ...numbers.map((one) => one.lines));
      const from = base ?? lines.first?.from ?? top;
      for (const missing of lines.missing(from + 1, top)) {
        gaps.push(`${named('audit line', missing)} of the process ${id} ${between(missing)}.`);
      }
      if (base === null) {
        const times = [
          ...(lines.first === null ? [] : [lines.first.since]),
          ...numbers.map(({ at }) => at),
        ];
        const began = formatTimestamp(Math.min(...times));
        gaps.push(`The log of the process ${id} begins at ${began}, after the backup.`);
      }
    }
    const isStopped = numbers.some(({ event }) => event === 'stop');
    if (!isStopped && last + NUMBER_EVERY >= this.#since) {
      const proven = numbers.reduce((at, one) => Math.max(at, one.at), 0);
      unproven.push(
        proven === 0
          ? `The process ${id} has logged no number: nothing proves that its log is whole.`
          : `The process ${id} was not stopped in order: nothing proves what it did after ${formatTimestamp(proven)}.`,
      );
    }
    return { gaps, unproven };
  }

  /** The count of audit lines up to which none has to be in the logs; null if that is not known. */
  #baseOf(lines: NumberSpans, numbers: readonly Numbered[], begin: number): number | null {
    const earlier = numbers.filter(({ number }) => number <= begin);
    if (earlier.length > 0) return Math.max(...earlier.map((one) => one.lines));
    if (numbers.some(({ event }) => event === 'start')) return 0;
    const first = lines.first;
    const isFromBefore = first !== null && (first.from === 1 || first.since <= this.#since);
    return isFromBefore ? first.from - 1 : null;
  }

  #instanceOf(id: string): Instance {
    const found = this.#instances.get(id) ?? {
      lines: new NumberSpans(),
      numbers: [],
      last: Number.NEGATIVE_INFINITY,
    };
    this.#instances.set(id, found);
    return found;
  }
}

function named(what: string, { from, to }: MissingSpan): string {
  return from === to ? `The ${what} ${from}` : `The ${what}s ${from} to ${to}`;
}

function between({ from, to, after, before }: MissingSpan): string {
  const verb = from === to ? 'is' : 'are';
  const times = [
    ...(after === null ? [] : [`after ${formatTimestamp(after)}`]),
    ...(before === null ? [] : [`before ${formatTimestamp(before)}`]),
  ];
  return `${verb} missing${times.length === 0 ? '' : `, ${times.join(' and ')}`}`;
}
