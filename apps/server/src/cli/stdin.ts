import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

/** Stands for the standard input in the place of an argument. */
export const STDIN = '-';

/** The lines of the standard input, one at a time. */
export function linesOf({ stdin }: Pick<Terminal, 'stdin'>): AsyncIterable<string> {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
}

/**
 * An argument, or the first line of the standard input for `-`: what is typed as an argument stands in
 * the history of the shell and in the list of processes.
 */
export async function argumentOrLine(terminal: Terminal, argument: string): Promise<string> {
  if (argument !== STDIN) return argument;
  for await (const line of linesOf(terminal)) return line.trim();
  return '';
}
