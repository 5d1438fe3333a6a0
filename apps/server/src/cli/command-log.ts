import pino, { type Logger } from 'pino';
import type { Terminal } from './terminal.ts';

/**
 * Prints only warnings about the database. Errors are left out, because the command fails with
 * them.
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
