import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Waits until the buttons have come to life: axe passes over those that have not. */
export const settled = (page: Page) =>
  expect.poll(() => page.locator('button:disabled').count()).toBe(0);

/** What axe finds on a page. */
export async function violationsOf(page: Page): Promise<string[]> {
  await settled(page);
  return violationsNow(page);
}

/** Also while the buttons are off. */
export async function violationsNow(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
