import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import type { Ending } from '../operations/operation-table.ts';
import type { Terminal } from './terminal.ts';

export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
  override readonly message = 'Nothing was changed.';
}

/** Asks only on a terminal, because a script cannot answer. */
export async function confirm(
  { stdin, stderr }: Pick<Terminal, 'stdin' | 'stderr'>,
  question: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes || !stdin.isTTY || !stderr.isTTY) return;
  const terminal = createInterface({ input: stdin, output: stderr as Writable });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new NotConfirmed();
  } finally {
    terminal.close();
  }
}

/**
 * Asks what the row of an operation says.
 *
 * @param words - what the question names: the input of the operation
 */
export async function confirmEnding(
  terminal: Terminal,
  ends: Ending['ends'],
  words: object,
  options: { yes?: boolean },
): Promise<void> {
  const question = Object.entries(words).reduce(
    (text, [word, value]) => text.replace(`{${word}}`, () => String(value)),
    ends,
  );
  await confirm(terminal, question, options);
}
