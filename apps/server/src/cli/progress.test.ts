import { PassThrough, Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { createProgress } from './progress.ts';

/** What a terminal shows, by the characters that the progress uses. */
function screenOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.slice(line.lastIndexOf('\r\u001b[K') + 1).replace('\u001b[K', ''));
}

function onTerminal({ columns = 80 } = {}) {
  let time = 0;
  let text = '';
  const write = (more: string) => {
    text += more;
  };
  const stderr = { write, isTTY: true, columns };
  const given = { environment: {}, stdin: Readable.from([]), stdout: { write, columns }, stderr };
  const progress = createProgress(given, () => time);
  return {
    ...progress,
    /** What is on the screen so many seconds later. */
    after(seconds: number) {
      time += seconds * 1000;
      progress.draw();
      return screenOf(text);
    },
    screen: () => screenOf(text),
  };
}

test('a command that takes long shows its name or its step below what it printed, and then nothing', () => {
  const { terminal, begin, after, end, screen } = onTerminal();
  begin('latchkey doctor');
  expect(after(0.9)).toEqual(['']);
  expect(after(0.1)).toEqual(['latchkey doctor, 1 s']);
  let share = 0.5;
  terminal.showStep?.({ text: 'copying the database', share: () => share });
  expect(after(2)).toEqual([
    `[${'#'.repeat(15)}${'.'.repeat(15)}] 50 %, copying the database, 2 s`,
  ]);
  // The source has less than was thought.
  share = 1.2;
  expect(after(1)).toEqual([`[${'#'.repeat(30)}] 100 %, copying the database, 3 s`]);
  terminal.stdout.write('ok\n');
  terminal.stderr.write('warning\n');
  expect(screen()).toEqual(['ok', 'warning', '']);
  // What prints all the time shows no line in between.
  expect(after(0.9)).toEqual(['ok', 'warning', '']);
  expect(after(0.1)).toEqual([
    'ok',
    'warning',
    expect.stringContaining('copying the database, 4 s'),
  ]);
  end();
  expect(screen()).toEqual(['ok', 'warning', '']);
});

test('the line does not wrap, and is not drawn while a person types', () => {
  const { terminal, begin, after } = onTerminal({ columns: 10 });
  begin('latchkey backup');
  expect(after(2)).toEqual(['latchkey ']);
  terminal.showStep?.(null);
  expect(after(60)).toEqual(['']);
  terminal.showStep?.();
  expect(after(2)).toEqual(['latchkey ']);
});

test('a command that has not begun shows nothing', () => {
  const { terminal, after } = onTerminal();
  terminal.showStep?.({ text: 'a step' });
  expect(after(60)).toEqual(['']);
});

test('a stream of the terminal stays the stream that it was', () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const given = { environment: {}, stdin: Readable.from([]), stdout: { write() {} }, stderr };
  const { terminal } = createProgress(given);
  const wrapped = terminal.stderr as PassThrough;
  let heard = 0;
  wrapped.on('data', () => {
    heard += 1;
  });
  wrapped.write('a');
  expect([heard, stderr.listenerCount('data')]).toEqual([1, 1]);
});
