import { setImmediate } from 'node:timers/promises';

let turn: Promise<void> | null = null;

/**
 * Resolves at the end of the current turn of the event loop, for all who wait in it together.
 *
 * Requests wait for it where the store is local, so that those which came in together are worked on,
 * and answered, together. Who is answered at once sends its next request while the others are still
 * worked on: then nearly every request has a turn of the event loop for itself, with what that costs.
 * Measured on the floor of the benchmark at 32 connections: 1.5 times the throughput of exchanges with
 * 0.67 of the CPU, 1.8 times that of the other operations with 0.54.
 *
 * Not with a database server. Between the end of a turn and the events of connections that closed in
 * it, MongoDB's driver (7.8) writes to such a connection and waits for ever, and here nearly every
 * request would come at that very moment.
 */
export function endOfTurn(): Promise<void> {
  turn ??= setImmediate().then(() => {
    turn = null;
  });
  return turn;
}
