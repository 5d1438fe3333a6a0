import { abuses } from './abuses.ts';
import { exchange } from './exchange.ts';
import { races } from './races.ts';
import { replays } from './replays.ts';
import { revocations } from './revocations.ts';
import type { Row } from './row.ts';

/** Every row, in the order of a report. */
export const rows: readonly Row[] = [exchange, ...races, ...abuses, ...replays, ...revocations];
