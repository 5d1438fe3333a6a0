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

/** A colour on its way to another one is none of the page. */
const TRANSITIONS =
  'Promise.allSettled(document.getAnimations().filter((one) => one instanceof CSSTransition).map((one) => one.finished)).then(() => undefined)';

/** Also while the buttons are off. */
export async function violationsNow(page: Page): Promise<string[]> {
  await page.evaluate(TRANSITIONS);
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
