import { createDemo, demoText } from '../demo/calls-to-paste.ts';
import { demoPaths, findDemoUrl, linkingDemoText } from '../demo/linking-demo.ts';
import { demoObstacles } from '../is-demo.ts';
import { loadSettings } from '../settings.ts';
import { CREATING } from './calls.ts';
import { listeningUrl } from './listening-url.ts';
import { withService } from './open-for-command.ts';
import type { Terminal } from './terminal.ts';

const INSTEAD =
  'Unset it, or create an application, an account and a code: latchkey app create, latchkey account put, latchkey code issue.';

export async function printDemo(terminal: Terminal): Promise<void> {
  const settings = loadSettings(terminal.environment);
  const obstacles = demoObstacles(settings);
  if (obstacles.length > 0) {
    throw new Error(`${obstacles.join(' and ')}, so no demo is made. ${INSTEAD}`);
  }
  await withService(terminal, CREATING, async ({ service }) => {
    // The service may have been started with another port than the one that is set here.
    const url = (await findDemoUrl(service)) ?? settings.publicUrl ?? listeningUrl(settings);
    await terminal.stdout.write(`${linkingDemoText(url + demoPaths.application)}\n`);
    await terminal.stdout.write(demoText(await createDemo(service), url));
  });
}
