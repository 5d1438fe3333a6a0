import { createInterface } from 'node:readline';
import type { Terminal } from './terminal.ts';

export const STDIN = '-';

export function linesOf(terminal: Terminal): AsyncIterable<string> {
  return createInterface({ input: inputOf(terminal), crlfDelay: Number.POSITIVE_INFINITY });
}

export function inputOf({ stdin, showStep }: Terminal): Terminal['stdin'] {
  if (stdin.isTTY) showStep?.(null);
  return stdin;
}

/** `-` reads stdin, because arguments are visible in the shell history and in the process list. */
export async function argumentOrLine(terminal: Terminal, argument: string): Promise<string> {
  if (argument !== STDIN) return argument;
  for await (const line of linesOf(terminal)) return line.trim();
  return '';
}
