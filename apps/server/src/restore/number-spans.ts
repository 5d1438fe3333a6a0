import type { Milliseconds } from '@latchkey/domain/clock';

interface Span {
  from: number;
  to: number;
  /** When the first and the last of them were logged. */
  since: Milliseconds;
  until: Milliseconds;
}

/** Null if there is nothing on that side. */
export interface MissingSpan {
  from: number;
  to: number;
  after: Milliseconds | null;
  before: Milliseconds | null;
}

/** Which whole numbers were seen: as many spans as there are holes, in whatever order they come. */
export class NumberSpans {
  readonly #spans: Span[] = [];

  get first(): Readonly<Span> | null {
    return this.#spans[0] ?? null;
  }

  get last(): Readonly<Span> | null {
    return this.#spans.at(-1) ?? null;
  }

  add(number: number, at: Milliseconds): void {
    const spans = this.#spans;
    let index = spans.length;
    // A log is in order, so this is nearly always the last one.
    while (index > 0 && (spans[index - 1] as Span).from > number) index -= 1;
    let span = spans[index - 1];
    if (span !== undefined && number <= span.to) return;
    if (span !== undefined && number === span.to + 1) {
      Object.assign(span, { to: number, until: at });
    } else {
      span = { from: number, to: number, since: at, until: at };
      spans.splice(index, 0, span);
      index += 1;
    }
    const next = spans[index];
    if (next?.from !== span.to + 1) return;
    Object.assign(span, { to: next.to, until: next.until });
    spans.splice(index, 1);
  }

  *missing(from: number, to: number): Generator<MissingSpan> {
    let next = from;
    let after: Milliseconds | null = null;
    for (const span of this.#spans) {
      if (span.from > to) break;
      if (span.from > next) yield { from: next, to: span.from - 1, after, before: span.since };
      next = Math.max(next, span.to + 1);
      after = span.until;
    }
    if (next > to) return;
    const before = this.#spans.find((span) => span.from > to)?.since ?? null;
    yield { from: next, to, after, before };
  }
}
