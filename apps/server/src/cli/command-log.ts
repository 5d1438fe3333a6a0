import pino, { type Logger } from 'pino';
import type { Terminal } from './terminal.ts';

/** Only warnings about the database. The command itself fails with the errors. */
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
