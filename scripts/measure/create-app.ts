// Runs `latchkey app create` on request, in one process: what loads the modules is not to be counted.
import { runCommandLine } from '../../apps/server/src/cli/command-line.ts';
import { outputTo } from '../../apps/server/src/cli/terminal.ts';

const { env: environment, stdin, stdout, stderr } = process;
const terminal = { environment, stdin, stdout: outputTo(stdout), stderr };

process.on('message', async (request) => {
  if (request !== 'create') return;
  const exitCode = await runCommandLine(['app', 'create', 'Acme'], terminal);
  if (exitCode !== 0) process.exit(exitCode);
  process.send?.('created');
});
