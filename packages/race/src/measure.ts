import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from './random.ts';
import type { Outcome, Row, Verdict } from './rows/row.ts';
import type { Server } from './server.ts';

/** The load of a run. */
export interface Load {
  /** Codes of a race, at most 100. */
  codes: number;
  /** Requests at once, at most 8. */
  requests: number;
  /** Milliseconds between two codes. */
  pause: number;
  /** Repeats the order and the offsets of a race. */
  seed: number;
}

/** Equal responses of a row: those of the losers of a race, or to the wrong attempts. */
export interface ResponseCount {
  count: number;
  /** Null if no response came. */
  status: number | null;
  /** The error code of the server, or what is wrong with the response. */
  error: string | null;
  retryAfter: string | null;
  /** Milliseconds until they were there: the median and the longest. */
  median: number;
  longest: number;
}

/** What was measured. */
export interface RowResult {
  id: string;
  title: string;
  source: string;
  verdict: Verdict;
  /** How many codes had which outcome. */
  outcomes: Record<string, number>;
  /** Why it was skipped or could not be measured, or what was wrong with a response. */
  reason: string | null;
  responses: ResponseCount[];
}

/** A row that is no race takes at most so many codes: its result does not depend on timing. */
const MOST_CODES = 10;

/** So many codes in succession without a result end a row: each may take a whole timeout. */
const MOST_ERRORS = 3;

/** From what a row is decided by to what it isn't. */
const ORDER = ['fail', 'error', 'note', 'pass'] as const;

/**
 * Takes codes through a row, one after the other.
 *
 * @param onCode - is called with how many codes are done, and how many there are
 */
export async function measureRow(
  row: Row,
  server: Server,
  load: Load,
  onCode: (done: number, all: number) => void = () => undefined,
): Promise<RowResult> {
  const lacks = row.lacks(server);
  if (lacks !== null) return skipped(row, lacks);
  const random = randomOf(load.seed, row.id);
  const all = row.isRace ? load.codes : Math.min(load.codes, MOST_CODES);
  const outcomes: Outcome[] = [];
  for (let index = 0; index < all; index++) {
    if (index > 0) await sleep(load.pause);
    const round = { requests: load.requests, index, random };
    const outcome = await row.play(server, round).catch(asOutcome);
    outcomes.push(outcome.isNotIssued ? unlessIssued(outcome, outcomes) : outcome);
    onCode(index + 1, all);
    if (outcome.endsRow) break;
    const last = outcomes.slice(-MOST_ERRORS);
    if (last.length === MOST_ERRORS && last.every(({ verdict }) => verdict === 'error')) break;
  }
  return resultOf(row, outcomes);
}

export function skipped({ id, title, source }: Row, reason: string): RowResult {
  return { id, title, source, verdict: 'skipped', outcomes: {}, reason, responses: [] };
}

const asOutcome = (error: unknown): Outcome => ({
  name: 'unclear',
  verdict: 'error',
  reason: error instanceof Error ? error.message : String(error),
});

/** A server that issued one such code has another reason to refuse the next. */
const unlessIssued = (outcome: Outcome, earlier: readonly Outcome[]): Outcome =>
  earlier.every(({ isNotIssued, verdict }) => isNotIssued || verdict === 'error')
    ? outcome
    : asOutcome(new Error('The server issued no more codes after the first ones.'));

function resultOf({ id, title, source }: Row, outcomes: readonly Outcome[]): RowResult {
  const verdict = ORDER.find((one) => outcomes.some((outcome) => outcome.verdict === one));
  // What could not be measured has a reason beside any verdict.
  const reasons = [verdict, 'error'].flatMap(
    (one) =>
      outcomes.find((outcome) => outcome.verdict === one && outcome.reason !== undefined)?.reason ??
      [],
  );
  const counts: Record<string, number> = {};
  for (const { name } of outcomes) counts[name] = (counts[name] ?? 0) + 1;
  return {
    id,
    title,
    source,
    verdict: verdict ?? 'error',
    outcomes: counts,
    reason: reasons.length === 0 ? null : [...new Set(reasons)].join(' '),
    responses: countResponses(outcomes),
  };
}

function countResponses(outcomes: readonly Outcome[]): ResponseCount[] {
  const groups = new Map<
    string,
    { of: Omit<ResponseCount, 'count' | 'median' | 'longest'>; times: number[] }
  >();
  for (const answer of outcomes.flatMap(({ answers = [] }) => answers)) {
    if (answer.kind === 'token') continue;
    const of = {
      status: answer.status,
      error:
        answer.kind === 'refused' ? answer.error : answer.kind === 'broken' ? answer.reason : null,
      retryAfter: answer.kind === 'busy' ? answer.retryAfter : null,
    };
    const key = JSON.stringify(of);
    const group = groups.get(key) ?? { of, times: [] };
    groups.set(key, group);
    group.times.push(answer.milliseconds);
  }
  return [...groups.values()]
    .map(({ of, times }) => {
      const sorted = times.toSorted((one, other) => one - other);
      const count = sorted.length;
      const median = sorted[Math.floor(count / 2)] as number;
      return {
        ...of,
        count,
        median: Math.round(median),
        longest: Math.round(sorted.at(-1) as number),
      };
    })
    .sort((one, other) => other.count - one.count);
}
