#!/usr/bin/env node
import { constants } from 'node:os';
import { main } from './main.ts';
import { describeUnexpected } from './unexpected.ts';

// The login is a program of the user, in this process. Whatever it does, a run without a report says so
// and does not end with 0.

let isOver = false;

function end(exitCode: number): never {
  isOver = true;
  process.exit(exitCode);
}

function say(why: string): void {
  // The progress may be in the middle of a line.
  process.stderr.write(
    `${process.stderr.isTTY ? '\n' : ''}The run ended without a report: ${why}\n`,
  );
}

function endUnexpectedly(error: unknown): never {
  say(
    `${describeUnexpected(error)}. If that place is in your login, fix it there. Otherwise report it: https://github.com/latchkey/latchkey/issues`,
  );
  return end(2);
}

process.on('uncaughtException', endUnexpectedly);
process.on('unhandledRejection', (error) => {
  say(
    `in the login, a call failed that nothing waits for (${describeUnexpected(error)}). Put await before every call there.`,
  );
  end(2);
});
process.on('beforeExit', () => {
  say(
    'the module of --login waits, outside its function, for something that never comes. Move that into the function.',
  );
  end(2);
});
process.on('exit', () => {
  if (isOver) return;
  say('something called process.exit. Take that out of the login.');
  process.exitCode = 2;
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    say(`it was stopped by ${signal}.`);
    end(128 + constants.signals[signal]);
  });
}

// A login that never ends would keep the process.
main(process.argv.slice(2), process.env).then(end, endUnexpectedly);
