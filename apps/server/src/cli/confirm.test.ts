import { PassThrough } from 'node:stream';
import { afterEach, expect, test, vi } from 'vitest';
import { confirm, NotConfirmed } from './confirm.ts';

/** A terminal on which a person types an answer. */
function terminal(answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as never);
  vi.spyOn(process, 'stderr', 'get').mockReturnValue(stderr as never);
  stdin.write(`${answer}\n`);
  return { stdin, stderr, asked: () => String(stderr.read() ?? '') };
}
afterEach(() => vi.restoreAllMocks());

test.each(['y', 'Y', 'yes', ' yes '])('goes on after %j', async (answer) => {
  const { asked } = terminal(answer);
  await confirm('Sure?', {});
  expect(asked()).toContain('Sure? [y/N]');
});

test.each(['', 'n', 'no', 'yesterday'])('stops after %j', async (answer) => {
  terminal(answer);
  await expect(confirm('Sure?', {})).rejects.toThrow(NotConfirmed);
});

test('does not ask with --yes, or without a terminal', async () => {
  const { stdin, asked } = terminal('n');
  await confirm('Sure?', { yes: true });
  stdin.isTTY = false;
  await confirm('Sure?', {});
  expect(asked()).toBe('');
});
