import type { Milliseconds } from '@latchkey/domain/clock';
import { type Finding, ok, problem } from './finding.ts';

const TOLERATED: Milliseconds = 1_000;

/** @param server - read between `before` and `after` of this machine's clock */
export function checkServerClock(
  server: Milliseconds,
  before: Milliseconds,
  after: Milliseconds,
): Finding {
  const difference = Math.max(before - server, server - after, 0);
  if (difference <= TOLERATED) {
    return ok('clock', 'The clocks of this machine and of the server agree.');
  }
  return problem(
    'clock',
    `The clock of this machine is ${Math.round(difference / 1000)} s ${server < before ? 'ahead of' : 'behind'} that of the server.`,
    'Let NTP keep both: a clock that is wrong makes codes expire early or late.',
  );
}
