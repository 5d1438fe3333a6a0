import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

export const STDIN = '-';

export function linesOf({ stdin }: Pick<Terminal, 'stdin'>): AsyncIterable<string> {
  return createInterface({ input: stdin, crlfDelay: Number.POSITIVE_INFINITY });
}

/** `-` reads stdin, because arguments are visible in the shell history and in the process list. */
export async function argumentOrLine(terminal: Terminal, argument: string): Promise<string> {
  if (argument !== STDIN) return argument;
  for await (const line of linesOf(terminal)) return line.trim();
  return '';
}
