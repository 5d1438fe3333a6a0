import { decodeJson } from '@latchkey/domain/decode-json';
import pino, { type Logger } from 'pino';
import { z } from 'zod';
import type { Terminal } from './terminal.ts';

const warning = z.object({ problem: z.string().optional() });

/** Only warnings about the database. The command itself fails with the errors. */
export function commandLog({ stderr }: Pick<Terminal, 'stderr'>): Logger {
  return pino(
    { level: 'warn' },
    {
      write(line: string) {
        const { problem } = warning.parse(decodeJson(line));
        if (problem !== undefined) stderr.write(`warning: ${problem}\n`);
      },
    },
  );
}
