#!/usr/bin/env node
// Nothing is imported before the version of Node is compared: an older Node would fail at what it lacks,
// with a message that does not say so. Without a top-level await, which Node 12 cannot parse.
import('../supported-node.ts').then(
  async () => {
    const { runProcess } = await import('./command-line.ts');
    await runProcess();
  },
  ({ message }: Error) => {
    process.stderr.write(`${message}\n`);
    // As in exit-code.ts: a restart of `serve` does not help.
    process.exitCode = process.argv[2] === 'serve' ? 78 : 1;
  },
);
