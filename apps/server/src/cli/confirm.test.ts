import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { confirm, NotConfirmed } from './confirm.ts';

/** A terminal on which a person types an answer. */
function terminal(answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  stdin.write(`${answer}\n`);
  return { stdin, stderr, asked: () => String(stderr.read() ?? '') };
}

test.each(['y', 'Y', 'yes', ' yes '])('goes on after %j', async (answer) => {
  const typed = terminal(answer);
  await confirm(typed, 'Sure?', {});
  expect(typed.asked()).toContain('Sure? [y/N]');
});

test.each(['', 'n', 'no', 'yesterday'])('stops after %j', async (answer) => {
  await expect(confirm(terminal(answer), 'Sure?', {})).rejects.toThrow(NotConfirmed);
});

test('does not ask with --yes, or without a terminal', async () => {
  const typed = terminal('n');
  await confirm(typed, 'Sure?', { yes: true });
  typed.stdin.isTTY = false;
  await confirm(typed, 'Sure?', {});
  expect(typed.asked()).toBe('');
});
