import { setImmediate } from 'node:timers/promises';
import { together } from './together.ts';

/**
 * Resolves at the end of the current turn of the event loop, for all who wait in it together.
 *
 * Requests wait for it where the store is local, so that those which came in together are worked on,
 * and answered, together. Who is answered at once sends its next request while the others are still
 * worked on: then nearly every request has a turn of the event loop for itself, with what that costs.
 * Measured on the floor of the benchmark at 32 connections: 1.5 times the throughput of exchanges with
 * 0.67 of the CPU, 1.8 times that of the other operations with 0.54.
 */
export const endOfTurn = together(() => setImmediate());

/** Works on requests at the end of the turn that each came in. */
export async function atEndOfTurn(work: () => Promise<void>): Promise<void> {
  await endOfTurn();
  await work();
}
