import type { Call } from './history.ts';

/** It was done, and the caller was told so. */
export function isDone({ answer }: Call): boolean {
  return answer?.status === 200;
}

export function isRefused({ answer }: Call, error_code: string): boolean {
  return answer?.error_code === error_code;
}

/**
 * It may have been done or not, and if it was, at any time after it began, also after its answer.
 * So is what got no answer: the connection was cut, a process was killed. `store_unavailable` is
 * none of these: it promises that nothing was changed.
 */
function isOpen({ answer }: Call): boolean {
  if (answer === null || answer.status === 500) return true;
  return answer.error_code === 'outcome_unknown';
}

export function mayBeDone(call: Call): boolean {
  return isDone(call) || isOpen(call);
}

/** Whether one was answered before the other began, so that it took effect before it. */
export function isBefore(one: Call, other: Call): boolean {
  return one.end !== null && one.end < other.start;
}

/** Whether one may have taken effect before the other did. */
export function canPrecede(one: Call, other: Call): boolean {
  return one.start < (other.end ?? Number.POSITIVE_INFINITY);
}

/** Whether one may have taken effect after the other did. */
export function canFollow(one: Call, other: Call): boolean {
  return isOpen(one) || !isBefore(one, other);
}

/** Whether what a call answered can only be so once the code was exchanged. */
export function showsExchange(call: Call): boolean {
  if (isRefused(call, 'code_already_used') || isRefused(call, 'grant_not_recoverable')) return true;
  if (call.operation === 'find') return call.answer?.found === true;
  return ['convert', 'recover', 'revoke', 'authenticate'].includes(call.operation) && isDone(call);
}
