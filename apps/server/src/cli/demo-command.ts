import type { Command } from 'commander';
import { BadSetting } from '../bad-setting.ts';
import { createDemo, demoText, isDemoAllowed } from '../demo.ts';
import { loadSettings } from '../settings.ts';
import { addExamples } from './examples.ts';
import { CREATING, withService } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

export function addDemoCommand(program: Command, terminal: Terminal): void {
  const command = program
    .command('demo')
    .description('print a demo to paste: a code to exchange, and the revocation of its grant')
    .action(async () => {
      const settings = loadSettings(terminal.environment);
      if (!isDemoAllowed(settings)) throw new BadSetting(NO_DEMO);
      const { publicUrl, host, port } = settings;
      const url = publicUrl ?? `http://${reachable(host)}:${port}`;
      await withService(terminal, CREATING, async (service) => {
        await terminal.stdout.write(demoText(await createDemo(service), url));
      });
    });
  addExamples(command, 'demo');
}

const NO_DEMO =
  'DATABASE_URL or ADMIN_SECRET is set, and a demo is made only where neither is. Unset both, or create an application, an account and a code: latchkey app create, latchkey account put, latchkey code issue.';

/** An address to call, for an address to listen on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
