import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import type { Terminal } from './terminal.ts';

export class NotConfirmed extends Error {
  override readonly name = 'NotConfirmed';
  override readonly message = 'Nothing was changed.';
}

/** Asks only on a terminal, because a script cannot answer. */
export async function confirm(
  { stdin, stderr, showStep }: Pick<Terminal, 'stdin' | 'stderr' | 'showStep'>,
  question: string,
  { yes }: { yes?: boolean },
): Promise<void> {
  if (yes || !stdin.isTTY || !stderr.isTTY) return;
  showStep?.(null);
  const terminal = createInterface({ input: stdin, output: stderr as Writable });
  try {
    const answer = await terminal.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new NotConfirmed();
  } finally {
    terminal.close();
    showStep?.();
  }
}

/** Puts members of an object in the place of their names in braces. */
export const fill = (text: string, members: object): string =>
  text.replace(/\{(\w+)\}/g, (found, name) =>
    Object.hasOwn(members, name) ? String(members[name as never]) : found,
  );

/**
 * Asks what the row of an operation says.
 *
 * @param words - what the question names: the input of the operation
 */
export async function confirmEnding(
  terminal: Terminal,
  ends: string,
  words: object,
  options: { yes?: boolean },
): Promise<void> {
  await confirm(terminal, fill(ends, words), options);
}
