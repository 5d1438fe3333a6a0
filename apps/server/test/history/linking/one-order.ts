import { CODE_LIFETIME, TICKET_LIFETIME } from '@latchkey/domain/lifetimes';
import { describeLinkCall, isDone, isOpen, type LinkCall, type LinkOperation } from './calls.ts';
import { type LinkState, type Meanwhile, nothing, statesAfter } from './model.ts';

/** A link whose calls can't have been made in any order. */
export interface Contradiction {
  link: string;
  /** The call that fits nowhere, in the order that fits the most calls. */
  call: LinkCall;
  /** All calls that matter to the link and began before that was answered, by their beginning. */
  calls: readonly LinkCall[];
}

/**
 * Looks for links that contradict themselves. What was told about a link has to be what one order of
 * the calls tells, in which each call is made between its start and its end. Calls without an answer
 * may be made at any later time, or never.
 *
 * What is about an account or the application is looked at link by link: at two links, it may be
 * made at different times.
 */
export function findContradictions(history: readonly LinkCall[]): Contradiction[] {
  // Nothing was done.
  const calls = history.filter(
    (call) => isOpen(call) || call.answer?.error_code !== 'store_unavailable',
  );
  return [...Map.groupBy(calls, ({ link }) => link)].flatMap(([link, own]) => {
    if (link === null) return [];
    const shared = calls.filter((call) => call.link === null && call.scene === own[0]?.scene);
    const all = [...own, ...shared].sort((one, other) => one.start - other.start);
    const sorted = whileAllLives(all, Math.min(...own.map(({ start }) => start)));
    const call = misfit(sorted);
    if (call === undefined) return [];
    return [{ link, call, calls: sorted.filter(({ start }) => start < endOf(call)) }];
  });
}

const LIFETIME = Math.min(CODE_LIFETIME, TICKET_LIFETIME) * 1e6;

/**
 * The calls before anything of the link can expire, which the model does not know: on a busy machine, a
 * fault may take that long. What was answered later counts as unanswered.
 */
function whileAllLives(calls: readonly LinkCall[], begun: number): LinkCall[] {
  return calls
    .filter(({ start }) => start < begun + LIFETIME)
    .map((call) => (endOf(call) < begun + LIFETIME ? call : { ...call, end: null, answer: null }));
}

const endOf = (call: LinkCall) =>
  isOpen(call) ? Number.POSITIVE_INFINITY : (call.end ?? Number.POSITIVE_INFINITY);

/**
 * The search of Wing and Gong, "Testing and verifying concurrent objects" (1993): tries each call that
 * may come next. It gives up where it was in the same state before, with the same answered calls made
 * and no other unanswered ones.
 *
 * @param calls - by their beginning
 * @returns undefined if there is an order
 */
function misfit(calls: readonly LinkCall[]): LinkCall | undefined {
  const entries = calls.map((call, index) => ({
    call,
    bit: 1n << BigInt(index),
    during: meanwhile(call, calls),
  }));
  // By their end: the first that is not made is the one that bounds what may come next.
  const answered = entries
    .filter(({ call }) => !isOpen(call))
    .sort((one, other) => endOf(one.call) - endOf(other.call));
  const unanswered = entries.filter(({ call }) => isOpen(call));
  const seen = new Map<string, bigint[]>();
  let most = -1;
  let found: LinkCall | undefined;

  // Those with the fewest unanswered calls first: what they reach, more of them reach too.
  let nodes: Node[] = [{ made: 0n, openMade: 0n, state: nothing }];
  while (nodes.length > 0) {
    const withOneMore: Node[] = [];
    for (let node = nodes.pop(); node; node = nodes.pop()) {
      const { made, openMade, state } = node;
      const left = answered.filter(({ bit }) => (made & bit) === 0n);
      const [next] = left;
      if (next === undefined) return undefined;
      const key = `${made} ${JSON.stringify(state)}`;
      const before = seen.get(key) ?? [];
      if (before.some((mask) => (mask & openMade) === mask)) continue;
      seen.set(key, [...before, openMade]);
      if (answered.length - left.length > most) {
        most = answered.length - left.length;
        found = next.call;
      }

      const mayBeNext = ({ call }: { call: LinkCall }) => call.start <= endOf(next.call);
      const candidates = left.filter(mayBeNext);
      // What only looks, or was refused, changes nothing later either.
      const idle = candidates.find(({ call, during }) => {
        const after = onlyLooks(call) ? statesAfter(state, call, during) : [];
        return after.length > 0 && after.every((each) => each === state);
      });
      if (idle) {
        nodes.push({ made: made | idle.bit, openMade, state });
        continue;
      }
      for (const { call, bit, during } of candidates) {
        const after = statesAfter(state, call, during);
        nodes.push(...after.map((each) => ({ made: made | bit, openMade, state: each })));
      }
      for (const { call, bit, during } of unanswered) {
        if ((openMade & bit) !== 0n || !mayBeNext({ call })) continue;
        const after = statesAfter(state, call, during).filter((each) => each !== state);
        withOneMore.push(...after.map((each) => ({ made, openMade: openMade | bit, state: each })));
      }
    }
    nodes = withOneMore;
  }
  return found;
}

/** What is reached with some of the calls made: a bit for each. */
interface Node {
  /** Of those that were answered. */
  made: bigint;
  /** Of the others. */
  openMade: bigint;
  state: LinkState;
}

const onlyLooks = (call: LinkCall) => !isDone(call) || ['show', 'use'].includes(call.operation);

function meanwhile(call: LinkCall, calls: readonly LinkCall[]): Meanwhile {
  const effective = calls.filter((other) => isDone(other) || isOpen(other));
  const meets = (operations: LinkOperation[]) =>
    effective.some(
      (other) =>
        operations.includes(other.operation) &&
        other.start < endOf(call) &&
        call.start < endOf(other),
    );
  return {
    codesEnd: meets(['disconnect', 'disable']),
    pagesEnd: meets(['end pages']),
    mayBeDisabled: effective.some(
      (other) => other.operation === 'disable' && other.start < endOf(call),
    ),
  };
}

/** For a person: what fits nowhere, and the calls before it, in order. */
export function describeContradiction({ link, call, calls }: Contradiction): string {
  return [
    `What was told about the link ${link} is true in no order: ${call.id} fits nowhere.`,
    ...calls.map((each) => `  ${describeLinkCall(each)}`),
  ].join('\n');
}
