import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort as findFreePort } from '@latchkey/test-kit/free-port';
import type { Browser, Page } from '../clients/browser.ts';

/** An application of a page, in its own process. */
export interface LinkingProgram {
  /** Where it listens. */
  readonly url: string;
  /** What it printed so far, on either stream. */
  printed(): string;
  stop(): Promise<void>;
}

/** The port of the applications in the pages. A test replaces it. */
export const PORT_OF_PAGES = '8080';

/** A port that nobody listens on, as programs take it. */
export const freePort = async () => String(await findFreePort());

/** Starts an application that listens on `port`, and waits until it does. */
export async function startLinkingProgram(
  [program = '', ...words]: readonly string[],
  port: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<LinkingProgram> {
  // In a process group of its own: the shell and npx start the program as a child.
  const child = spawn(program, words, {
    ...options,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', kill);
  const ended = once(child, 'close');
  let printed = '';
  const note = (chunk: Buffer) => {
    printed += chunk;
  };
  child.stdout.on('data', note);
  child.stderr.on('data', note);
  const url = `http://127.0.0.1:${port}`;
  while (
    !(await fetch(url).then(
      () => true,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`It ended before it listened:\n${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    url,
    printed: () => printed,
    async stop() {
      kill();
      await ended;
      process.off('exit', kill);
    },
  };
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
