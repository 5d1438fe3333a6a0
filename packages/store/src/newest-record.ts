import type { Clock, Milliseconds } from '@latchkey/domain/clock';
import { type Finding, ok, problem, warning } from './finding.ts';

// Processes on NTP are within a second of each other.
const TOLERATED: Milliseconds = 1_000;
const REFUSED: Milliseconds = 60_000;

export function checkNewestRecord(newest: Milliseconds | null, clock: Clock): Finding {
  const ahead = newest === null ? 0 : newest - clock();
  if (ahead <= TOLERATED) {
    return ok('clock', 'No record is from the future.');
  }
  const level = ahead > REFUSED ? problem : warning;
  return level(
    'clock',
    `The newest grant is from the future, by ${Math.round(ahead / 1000)} s: this clock is behind, or that of another machine was ahead.`,
    'Let NTP keep the clock of every machine that runs the service.',
  );
}
