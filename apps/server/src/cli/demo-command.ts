import type { Command } from 'commander';
import { createDemo, demoText } from '../demo.ts';
import { withService } from './with-service.ts';

export function addDemoCommand(program: Command, environment: NodeJS.ProcessEnv): void {
  program
    .command('demo')
    .description('print a fresh exchange and revocation to paste, against a running service')
    .action(() =>
      withService(environment, async (service, { publicUrl, host, port }) => {
        const url = publicUrl ?? `http://${reachable(host)}:${port}`;
        process.stdout.write(demoText(await createDemo(service), url));
      }),
    );
}

/** An address to call for one to listen on. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
