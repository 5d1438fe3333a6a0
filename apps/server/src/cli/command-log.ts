import pino, { type Logger } from 'pino';
import type { Terminal } from './terminal.ts';

/**
 * The log of a command: what a person should know about the database, as a line of text. Errors of the
 * background are left out. The error of the command itself tells the same, without a stack.
 */
export function commandLog({ stderr }: Pick<Terminal, 'stderr'>): Logger {
  return pino(
    { level: 'warn' },
    {
      write(line: string) {
        const { problem } = JSON.parse(line);
        if (problem !== undefined) stderr.write(`warning: ${problem}\n`);
      },
    },
  );
}
