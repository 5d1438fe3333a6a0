import { fileURLToPath } from 'node:url';
import { describeInBrowser } from '@latchkey/test-kit/chromium';
import { isLong, longer, slow } from '@latchkey/test-kit/long';
import { describe, expect, test } from 'vitest';
import { pageHeaders } from '../../src/http/linking/page-sender.ts';
import { pageScript } from '../../src/http/linking/theme/script.ts';
import { stylesheet } from '../../src/http/linking/theme/stylesheet.ts';
import type { Page } from '../../src/http/linking/views/page.ts';
import { ABOUT } from '../../src/openapi/about.ts';
import { violationsOf } from './accessibility.ts';
import { pageIn, pageNames, questionOfTheGuides } from './pictured-pages.ts';

// The pictures for the docs. They are written only if WRITE_SCREENSHOTS is set: a test run changes no file.
const images = fileURLToPath(new URL('../../../../docs/images/', import.meta.url));

const style = stylesheet('#0b62d6');

/** What a picture shows, and how. */
const matrix = {
  name: pageNames,
  letters: [3, 40, 64],
  scopes: [1, 3, 8],
  language: ['en', 'de', 'ar'],
  width: [360, 768, 1280],
  colorScheme: ['light', 'dark'],
} as const;

type Picture = { -readonly [Key in keyof typeof matrix]: (typeof matrix)[Key][number] };

const everyPicture = Object.entries(matrix).reduce<Record<string, unknown>[]>(
  (pictures, [key, values]) =>
    pictures.flatMap((picture) => values.map((value) => ({ ...picture, [key]: value }))),
  [{}],
) as unknown as Picture[];

/** So few that each value of one member still meets each value of another one in some picture. */
function pairwise(pictures: readonly Picture[]): Picture[] {
  const pairsOf = (picture: Picture) => {
    const values = Object.entries(picture).map(([key, value]) => `${key} ${value}`);
    return values.flatMap((one, i) => values.slice(i + 1).map((other) => `${one}, ${other}`));
  };
  const all = pictures.map((picture) => ({ picture, pairs: pairsOf(picture) }));
  const missing = new Set(all.flatMap(({ pairs }) => pairs));
  const chosen: Picture[] = [];
  while (missing.size > 0) {
    const gain = ({ pairs }: (typeof all)[number]) =>
      pairs.filter((one) => missing.has(one)).length;
    const best = all.reduce((one, other) => (gain(other) > gain(one) ? other : one));
    for (const pair of best.pairs) missing.delete(pair);
    chosen.push(best.picture);
  }
  return chosen;
}

/** In the browser: whether all of an element is in the window, and in front. */
const isSeen = `(e) => {
  const { left, top, right, bottom } = e.getBoundingClientRect();
  if (left < 0 || top < 0 || right > innerWidth || bottom > innerHeight) return false;
  return [top + 1, bottom - 1].every((y) => e.contains(document.elementFromPoint((left + right) / 2, y)));
}`;

/** In the browser: what a designer would send back. */
const faultsOf = `(() => {
  const faults = [];
  const isInline = (e) => /^(inline|-webkit-inline|contents)/.test(getComputedStyle(e).display);
  const blockOf = (e) => (isInline(e) ? blockOf(e.parentElement) : e);
  const words = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  let before = {};
  for (let node = words.nextNode(); node; node = words.nextNode()) {
    const block = blockOf(node.parentElement);
    // A host may break anywhere, and so may an address.
    const isAddress = node.parentElement.closest('strong, bdi:has(> strong), .address, dd');
    for (const { 0: letter, index } of node.data.matchAll(/\\S/gu)) {
      range.setStart(node, index);
      range.setEnd(node, index + letter.length);
      const { top, bottom } = range.getBoundingClientRect();
      if (top === bottom) continue;
      const middle = (top + bottom) / 2;
      const isSameLine = before.block === block && before.top < middle && middle < before.bottom;
      const isClosing = /[\\p{Po}\\p{Pe}\\p{Pf}]/u.test(letter) || (letter === '“' && document.documentElement.lang === 'de');
      if (isClosing && !isSameLine && !isAddress) faults.push('a line begins with ' + node.data.slice(index, index + 30));
      before = { block, top, bottom };
    }
  }

  if (document.documentElement.scrollWidth > innerWidth) faults.push('it scrolls sideways');
  for (const e of document.querySelectorAll('main *')) {
    const isCut = e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'hidden';
    if (isCut && !e.matches('.unseen, .logo')) faults.push('cut: ' + e.outerHTML);
  }
  for (const e of document.querySelectorAll('.person .quiet > bdi')) {
    if (new Set(Array.from(e.getClientRects(), ({ top }) => top)).size > 1) faults.push('on two lines: ' + e.textContent);
  }

  const isSeen = ${isSeen};
  for (const place of [0, 1e9]) {
    scrollTo(0, place);
    for (const e of document.querySelectorAll('.actions:has([name=decision]) > *')) {
      if (!isSeen(e)) faults.push('not in the window: ' + e.textContent);
    }
  }
  scrollTo(0, 0);

  const { left, right, top, bottom } = document.querySelector('main').getBoundingClientRect();
  const isCentred = Math.abs(left - (innerWidth - right)) < 2 && (document.documentElement.scrollHeight > innerHeight || Math.abs(top - (innerHeight - bottom)) < 2);
  if (!isCentred) faults.push('not in the middle');
  const widest = document.querySelector('.connections') ? 640 : 448;
  if (right - left !== Math.min(widest, innerWidth)) faults.push('of another width');
  return faults;
})()`;

const HEIGHTS = { 360: 640, 768: 1024, 1280: 720 };

/** Of a window that is so low that the page has to scroll. */
const LOW = { width: 360, height: 400 };

describeInBrowser('a picture of a page', (open) => {
  /** Shows pages with the headers that the service sends with them. */
  async function screen() {
    const { page, complaints } = await open();
    let current: Page;
    const files: Record<string, { contentType: string; body: string }> = {
      '/link/assets/page.css': { contentType: 'text/css', body: style },
      '/link/assets/page.js': { contentType: 'text/javascript', body: pageScript },
    };
    await page.route('**', (route) => {
      const headers = pageHeaders(current) as Record<string, string>;
      const shown = { contentType: 'text/html; charset=UTF-8', body: current.html, headers };
      return route.fulfill(files[new URL(route.request().url()).pathname] ?? shown);
    });
    await page.clock.install();
    const show = async (shown: Page) => {
      current = shown;
      await page.goto('https://latchkey.example/');
      // Until the buttons take clicks.
      await page.clock.fastForward(600);
    };
    return { page, complaints, show };
  }

  describe.each(pageNames)('%s', (name) => {
    // All of its pictures take some minutes.
    const patience = { timeout: longer(300_000, 3_600_000) };
    test('has nothing that a designer would send back', patience, async () => {
      const { page, complaints, show } = await screen();
      const pictures = isLong ? everyPicture : pairwise(everyPicture);
      for (const picture of pictures.filter((one) => one.name === name)) {
        const { width, colorScheme } = picture;
        await page.setViewportSize({ width, height: HEIGHTS[width] });
        await page.emulateMedia({ colorScheme });
        await show(pageIn(name, picture));
        const faults = await page.evaluate<string[]>(faultsOf);
        expect({ ...picture, faults: [...faults, ...(await violationsOf(page))] }).toEqual({
          ...{ ...picture, faults: [] },
        });
      }
      expect(complaints).toEqual([]);
    });

    test('fits the smallest screen and the widest', slow, async () => {
      const { page, show } = await screen();
      await show(pageIn(name, { letters: 200, scopes: 8, language: 'de' }));
      for (const viewport of [
        { width: 320, height: 640 },
        // 1280 × 1024 at 400 % (WCAG 2.2, 1.4.10).
        { width: 320, height: 256 },
        { width: 1920, height: 1080 },
      ]) {
        await page.setViewportSize(viewport);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
        for (const one of await page
          .locator('a, button, summary, select, label:not(.question)')
          .all()) {
          const { x = 0, width = 0, height = 0 } = (await one.boundingBox()) ?? {};
          expect(x).toBeGreaterThanOrEqual(0);
          expect(x + width).toBeLessThanOrEqual(viewport.width);
          // WCAG 2.2, 2.5.8.
          expect(height).toBeGreaterThanOrEqual(24);
        }
      }
    });
  });

  test('shows what has the focus, also beside the bar of the decision', async () => {
    const { page, show } = await screen();
    await page.setViewportSize(LOW);
    await show(pageIn('consent', { letters: 40, scopes: 8, language: 'en' }));
    const focused: string[] = [];
    const places: number[] = [];
    for (const key of [...Array(8).fill('Tab'), ...Array(7).fill('Shift+Tab')]) {
      await page.keyboard.press(key);
      focused.push(
        await page.evaluate('document.activeElement.textContent || document.activeElement.value'),
      );
      places.push(await page.evaluate('scrollY'));
      expect(await page.evaluate(`(${isSeen})(document.activeElement)`), focused.at(-1)).toBe(true);
    }
    const boxes = ['scope.0', 'scope.1'];
    const links = ['notes.acme.example', 'Use another account', ...boxes, 'Privacy', 'Terms'];
    const there = [...links, 'Deny'];
    expect(focused).toEqual([...there, 'Allow', ...there.toReversed()]);
    // What is in view anyway does not move the rest: from "Terms" to "Allow" and back to "Deny".
    expect(new Set(places.slice(5, 9)).size).toBe(1);
  });

  test.each([
    ['at a glance', 3, 'radio', 6],
    ['in a list', 8, 'combobox', 1],
  ] as const)(
    'says what is asked to who hears it, and keeps it in view: %s',
    async (_, scopes, role, count) => {
      const { page, show } = await screen();
      await page.setViewportSize(LOW);
      await show(pageIn('consent with a choice', { letters: 3, scopes, language: 'en' }));
      const named = { name: 'Which workspace of Box?' };
      const control =
        role === 'radio'
          ? page.getByRole('group', named).getByRole(role)
          : page.getByRole(role, named);
      expect(await control.count()).toBe(count);
      await page.getByRole('button', { name: 'Allow' }).click();
      expect(await page.evaluate('document.activeElement.name')).toBe('choice');
      expect(await page.evaluate(`(${isSeen})(document.activeElement)`)).toBe(true);
      await page.keyboard.press('ArrowDown');
      const chosen = `new FormData(document.querySelector('form')).get('choice')`;
      expect(await page.evaluate(chosen)).toMatch(/^ws-[01]$/);
    },
  );

  test('sets Disconnect apart from "Keep it", and moves for 120 ms, or not where a person wants none', async () => {
    const { page, show } = await screen();
    await show(pageIn('disconnect', { letters: 3, scopes: 1, language: 'en' }));
    const buttons = (property: string) =>
      page.evaluate<string[]>(
        `Array.from(document.querySelectorAll('.decide > *'), (e) => getComputedStyle(e).${property})`,
      );
    expect(await buttons('backgroundColor')).toEqual(['rgba(0, 0, 0, 0)', 'rgb(196, 40, 28)']);
    expect(new Set(await buttons('transitionDuration'))).toEqual(new Set(['0.12s']));
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(new Set(await buttons('transitionDuration'))).toEqual(new Set(['0s']));
  });

  test('keeps a date on one line, wherever the line ends', async () => {
    const { page, show } = await screen();
    await show(pageIn('connections', { letters: 3, scopes: 1, language: 'en' }));
    for (let width = 280; width <= 480; width += 5) {
      await page.setViewportSize({ width, height: 640 });
      const lines = await page.evaluate(
        `Array.from(document.querySelectorAll('time'), (e) => e.getClientRects().length)`,
      );
      expect(lines, `${width} px`).toEqual([1, 1]);
    }
  });

  test('has three tones, with a colour and an icon each', async () => {
    const { page, show } = await screen();
    const seen: [color: string, icon: string][] = [];
    for (const name of ['an unknown client', 'disconnect', 'the end'] as const) {
      await show(pageIn(name, { letters: 3, scopes: 1, language: 'en' }));
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        seen.push(
          await page.evaluate(
            `(({ backgroundColor, maskImage }) => [backgroundColor, maskImage])(getComputedStyle(document.querySelector('.tone'), '::before'))`,
          ),
        );
      }
    }
    expect(new Set(seen.map(([color]) => color)).size).toBe(6);
    expect(new Set(seen.map(([, icon]) => icon)).size).toBe(3);
    for (const [, icon] of seen) expect(icon).toMatch(/^url\("data:image\/svg\+xml,/);
  });

  test('is small: a question for 8 scopes, its style and its script, without its logos', () => {
    for (const name of pageNames.slice(0, 2)) {
      const { html } = pageIn(name, { letters: 64, scopes: 8, language: 'de' });
      const sent = html.replaceAll(/ src="data:[^"]*"/g, '') + style + pageScript;
      expect(Buffer.byteLength(sent)).toBeLessThanOrEqual(30 * 1024);
    }
  });

  if (process.env.WRITE_SCREENSHOTS) {
    test('is drawn for the guides', async () => {
      const { page, show } = await screen();
      for (const [name, width, height, colorScheme] of [
        ['light', 600, 860, 'light'],
        ['dark', 600, 860, 'dark'],
        ['phone', 360, 640, 'light'],
      ] as const) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme });
        await show(questionOfTheGuides);
        await page.screenshot({ path: `${images}consent-${name}.png` });
      }
    });

    test('is drawn for the host of the repository, with what Latchkey is', async () => {
      const { page, show } = await screen();
      await page.setViewportSize({ width: 520, height: 820 });
      await show(questionOfTheGuides);
      const consent = (await page.screenshot()).toString('base64');
      const social = (await open({ viewport: { width: 1280, height: 640 } })).page;
      await social.setContent(`<body style="margin: 0; height: 100vh; overflow: hidden; display: flex; gap: 56px; padding-left: 72px; box-sizing: border-box; background: #f1f3f6; color: #17181c; font: 34px/1.35 sans-serif">
<div style="flex: 1; align-self: center"><p style="margin: 0 0 24px; font: bold 72px/1 sans-serif">Latchkey</p>${ABOUT}</div>
<img style="height: 676px; margin-top: -18px" src="data:image/png;base64,${consent}"></body>`);
      await social.screenshot({ path: `${images}social.png` });
    });
  }
});
