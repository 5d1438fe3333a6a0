import type { Milliseconds } from '@latchkey/domain/clock';
import { InvalidArgumentError } from 'commander';

// Without one, the time would depend on the settings of this machine.
const OFFSET = /(Z|[+-]\d\d:\d\d)$/i;

export function parsePastTime(text: string): Milliseconds {
  const time = Date.parse(text);
  if (Number.isNaN(time) || !OFFSET.test(text)) {
    throw new InvalidArgumentError('It must be a time with its offset, as 2026-11-21T02:15:30Z.');
  }
  if (time > Date.now()) throw new InvalidArgumentError('It must not be in the future.');
  return time;
}

/** As operations take it. They refuse a time to come too, but this way nothing is called. */
export const parseSince = (text: string): string => new Date(parsePastTime(text)).toISOString();
