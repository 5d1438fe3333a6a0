#!/usr/bin/env node
import { runCommandLine } from './command-line.ts';
import { outputTo } from './terminal.ts';

const { env: environment, stdout, stderr } = process;
// Nobody may be reading any more. That must end neither the service nor a change that is under way.
stderr.on('error', () => {});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  environment,
  // A getter, since reading `process.stdin` opens it.
  get stdin() {
    return process.stdin;
  },
  stdout: outputTo(stdout),
  stderr,
});
