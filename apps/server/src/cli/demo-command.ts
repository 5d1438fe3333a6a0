import type { Command } from 'commander';
import { BadSetting } from '../bad-setting.ts';
import { createDemo, demoText } from '../demo/calls-to-paste.ts';
import { demoPaths, isDemoAllowed, isLinkingDemo, linkingDemoText } from '../demo/linking-demo.ts';
import { loadSettings } from '../settings.ts';
import { listeningUrl } from './listening-url.ts';
import { type Terminal, withService } from './run-operation.ts';

export function addDemoCommand(program: Command, terminal: Terminal): void {
  program
    .command('demo')
    .description(
      'print the address of the demo, a code to exchange, and the revocation of its grant',
    )
    .action(async () => {
      const settings = loadSettings(terminal.environment);
      if (!isDemoAllowed(settings)) throw new BadSetting(NO_DEMO);
      const url = settings.publicUrl ?? listeningUrl(settings);
      await withService(terminal, { create: true }, async (service) => {
        if (isLinkingDemo(settings)) {
          terminal.stdout.write(`${linkingDemoText(url + demoPaths.application)}\n`);
        }
        terminal.stdout.write(demoText(await createDemo(service), url));
      });
    });
}

const NO_DEMO =
  'DATABASE_URL or ADMIN_SECRET is set, and a demo is made only where neither is. Unset both, or create an application, an account and a code: latchkey app create, latchkey account put, latchkey code issue.';
