import { freePort as findFreePort } from '@latchkey/test-kit/free-port';
import type { Browser, Page } from '../clients/browser.ts';
import { type RunningProgram, startProgram } from './program.ts';

/** The ports of the programs in the pages. A test replaces them. */
export const PORT_OF_PAGES = /\b80[89]\d\b/g;

/** A port that nobody listens on, as programs take it. */
export const freePort = async () => String(await findFreePort());

/** Starts an application that listens on `port`, and waits until it does. */
export function startLinkingProgram(
  command: readonly string[],
  port: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<RunningProgram> {
  const url = `http://127.0.0.1:${port}`;
  return startProgram(command, options, () =>
    fetch(url).then(
      () => url,
      () => undefined,
    ),
  );
}

/**
 * Connects Ada of the demo with an application, as a person does.
 *
 * @param connectUrl - what its button leads to
 * @returns the page of the application that the browser comes back to
 */
export async function connectAda(browser: Browser, connectUrl: string): Promise<Page> {
  const signIn = await browser.open(connectUrl);
  const consent = await browser.press(signIn, 'Ada Lovelace');
  return browser.press(consent, 'Allow');
}

/** Ends what {@link connectAda} began: on the page of the demo that lists her connected applications. */
export async function disconnect(
  browser: Browser,
  serviceUrl: string,
  application_id: string,
): Promise<void> {
  const list = await browser.press(
    await browser.open(`${serviceUrl}/demo`),
    'Connected applications',
  );
  const link = `/connections/${application_id}`;
  if (!list.text.includes(`href="${link}"`)) throw new Error(`It is not connected:\n${list.text}`);
  await browser.press(await browser.open(serviceUrl + link), 'Disconnect');
}
