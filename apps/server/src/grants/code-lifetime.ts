import type { Milliseconds } from '../clock.ts';

/** A code is valid for 5 minutes after its issue (the grant interface, section 8). */
export const CODE_LIFETIME: Milliseconds = 300_000;
