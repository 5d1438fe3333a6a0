#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';
import { outputTo } from './terminal.ts';

const { env: environment, stdout, stderr } = process;
// libuv gives names half of its threads. A few names that hang must not hold up all others: at most 16
// tries of endpoints that do not work run at once.
if (process.argv[2] === 'serve') environment.UV_THREADPOOL_SIZE ??= '40';
// A closed stderr must not end the service or interrupt a change.
stderr.on('error', () => {});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment,
  // A getter, because reading `process.stdin` opens it.
  get stdin() {
    return process.stdin;
  },
  stdout: outputTo(stdout),
  stderr,
});
