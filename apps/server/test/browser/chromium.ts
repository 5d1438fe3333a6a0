import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, test } from 'vitest';

const programs = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The browser that the machine has; undefined where it has none. */
const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => programs.map((program) => join(folder, program)))
  .find((path) => existsSync(path));

// Without one, nobody would notice on a build machine that the pages are not looked at.
if (executablePath === undefined && process.env.CI) {
  throw new Error(
    'There is no Chromium. Install it (Debian and Ubuntu: apt-get install chromium).',
  );
}

// A browser on a busy machine takes some seconds to come up.
const options = { timeout: 60_000 };

/** A page in a browser profile of its own. */
export interface WatchedPage {
  page: Page;
  /** What the browser has complained about so far: errors, and breaches of the page's policy. */
  complaints: string[];
}

/** Runs a suite in a real browser, headless; where there is none, names it as not run. */
export function describeInBrowser(
  title: string,
  suite: (open: () => Promise<WatchedPage>) => void,
): void {
  if (executablePath === undefined) {
    describe.skip(`${title} (not run: there is no Chromium)`, () => test('is the same'));
    return;
  }
  describe(title, options, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await chromium.launch({ executablePath });
    }, options.timeout);
    afterAll(() => browser?.close());
    suite(() => open(browser));
  });
}

async function open(browser: Browser): Promise<WatchedPage> {
  const page = await browser.newPage({ viewport: { width: 1000, height: 860 } });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()} did not load`));
  return { page, complaints };
}
