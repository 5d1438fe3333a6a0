#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';
import { outputTo } from './terminal.ts';

const { env: environment, stdout, stderr } = process;
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
