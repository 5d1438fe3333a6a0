import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, onTestFinished, test } from 'vitest';
import { slow } from './long.ts';

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of the installed browser; undefined if there is none. */
const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => programs.map((program) => join(folder, program)))
  .find((path) => existsSync(path));

// In CI, a missing browser is a failure: nobody would notice that the pages are not tested.
if (executablePath === undefined && process.env.CI) {
  throw new Error(
    'There is no Chromium. Install it (Debian and Ubuntu: apt-get install chromium).',
  );
}

/** A page in its own browser profile. */
export interface WatchedPage {
  page: Page;
  /** The errors so far, including violations of the page's policy. */
  complaints: string[];
}

/** Opens a page in a new profile, until the test is over. Default: scripts run, and it is 1000 pixels wide. */
export type OpenPage = (options?: BrowserContextOptions) => Promise<WatchedPage>;

/**
 * Runs a suite in a real, headless browser, which `npm test` leaves out: a browser takes more of the processor than the
 * service. Without a browser, the suite is skipped with a note.
 */
export function describeInBrowser(title: string, suite: (open: OpenPage) => void): void {
  if (executablePath === undefined) {
    describe.skip(`${title} (not run: there is no Chromium)`, () => test('is the same'));
    return;
  }
  describe(title, slow, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath });
    });
    afterAll(() => browser?.close());
    suite((options) => open(browser, options));
  });
}

/** Opens a page in a browser whose settings block all cookies, until the test is over. */
export async function openWithoutCookies(): Promise<Page> {
  const profile = await mkdtemp(join(tmpdir(), 'latchkey-profile-'));
  await mkdir(join(profile, 'Default'));
  const settings = { profile: { default_content_setting_values: { cookies: BLOCK } } };
  await writeFile(join(profile, 'Default', 'Preferences'), JSON.stringify(settings));
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath && { executablePath }),
  });
  onTestFinished(async () => {
    await context.close();
    await rm(profile, { recursive: true });
  });
  return context.newPage();
}

// Of Chromium's `ContentSetting`.
const BLOCK = 2;

/** Four times Playwright's own: in a whole run, several browsers share two processors. */
const PATIENCE_MS = 120_000;

async function open(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1000, height: 860 }, ...options });
  onTestFinished(() => context.close());
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} did not load`));
  return { page, complaints };
}
