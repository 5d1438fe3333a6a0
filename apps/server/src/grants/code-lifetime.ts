import type { Milliseconds } from '../clock.ts';

export const CODE_LIFETIME: Milliseconds = 300_000;
