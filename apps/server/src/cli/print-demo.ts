import { BadSetting } from '../bad-setting.ts';
import { createDemo, demoText } from '../demo/calls-to-paste.ts';
import { demoPaths, findDemoUrl, linkingDemoText } from '../demo/linking-demo.ts';
import { isDemoAllowed, isLinkingDemo } from '../is-demo.ts';
import { loadSettings } from '../settings.ts';
import { listeningUrl } from './listening-url.ts';
import { CREATING, withService } from './run-operation.ts';
import type { Terminal } from './terminal.ts';

const NO_DEMO =
  'DATABASE_URL or ADMIN_SECRET is set, so no demo is made. Unset both, or create an application, an account and a code: latchkey app create, latchkey account put, latchkey code issue.';

export async function printDemo(terminal: Terminal): Promise<void> {
  const settings = loadSettings(terminal.environment);
  if (!isDemoAllowed(settings)) throw new BadSetting(NO_DEMO);
  await withService(terminal, CREATING, async ({ service }) => {
    let url = settings.publicUrl ?? listeningUrl(settings);
    if (isLinkingDemo(settings)) {
      // The service may have been started with another port than the one that is set here.
      url = (await findDemoUrl(service)) ?? url;
      await terminal.stdout.write(`${linkingDemoText(url + demoPaths.application)}\n`);
    }
    await terminal.stdout.write(demoText(await createDemo(service), url));
  });
}
