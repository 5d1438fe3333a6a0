import { describeInBrowser } from '@latchkey/test-kit/chromium';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import {
  approved,
  begin,
  redeem,
  request,
  STRANGER,
  toThisMachine,
} from '../client-documents/document-flow.ts';
import { publish, useWorld } from '../client-documents/document-server.ts';
import { LONG_HOST } from '../outbound/world.ts';
import { violationsOf } from './accessibility.ts';
import { useLinkingWorld } from './linking-world.ts';

/**
 * The hosts on a page, each with what a person sees of it: its characters that lie inside all that could cut them,
 * with nothing before them. What is in bold is in brackets.
 */
const HOSTS_SEEN = `[...document.querySelectorAll('bdi')].filter((e) => e.querySelector('strong')).map((host) => {
  const seen = (text) => [...text.data].map((character, i) => {
    const range = document.createRange();
    range.setStart(text, i);
    range.setEnd(text, i + 1);
    text.parentElement.scrollIntoView({ block: 'center' });
    const { left, right, top, bottom, width } = range.getBoundingClientRect();
    const isCut = (e) => {
      if (e === document.documentElement) return left < 0 || right > innerWidth;
      const { overflow, webkitLineClamp, textOverflow, opacity, visibility } = getComputedStyle(e);
      const box = e.getBoundingClientRect();
      const isOutside = left < box.left - 1 || right > box.right + 1 || top < box.top - 4 || bottom > box.bottom + 4;
      return (overflow !== 'visible' && isOutside) || webkitLineClamp !== 'none' || textOverflow !== 'clip' ||
        opacity !== '1' || visibility !== 'visible' || isCut(e.parentElement);
    };
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    return width > 0 && host.contains(found) && !isCut(text.parentElement) ? character : '✂';
  }).join('');
  return [...host.childNodes].map((e) => e.data === undefined ? '[' + seen(e.firstChild) + ']' : seen(e)).join('');
})`;

const CLAIMS_SEEN = `[...document.querySelectorAll('.claim')].map((e) => [e.innerText, getComputedStyle(e).textDecorationLine])`;

describeInBrowser('an application that is a stranger, in a browser', (open) => {
  const certificates = useWorld();
  const settings = { CLIENT_DOCUMENTS: 'any', OUTBOUND_ALLOW: 'private' };
  const world = useLinkingWorld(settings, toThisMachine);

  async function askedBy(changes: Record<string, string> = {}) {
    const { url, callbacks } = await world.addApplication();
    const redirect_uri = `${url}/callback`;
    const published = await publish(certificates, { redirect_uris: [redirect_uri] }, STRANGER);
    const asked = { ...request(published), redirect_uri, ...changes };
    const { page } = await open();
    await page.goto(`${world.publicUrl}/oauth/authorize?${new URLSearchParams(asked)}`);
    const isHere = () => new URL(page.url()).origin === new URL(world.publicUrl).origin;
    const goBack = async () => {
      await page.getByRole('link', { name: 'Go back to the application on this device' }).click();
      await page.getByRole('heading', { name: 'Back in the application' }).waitFor();
    };
    return { page, callbacks, isHere, goBack };
  }

  describe('shows all of its host', () => {
    const NAME = 'Claude for the desktop with all its ages';
    const RETURNS = LONG_HOST.replace('claude', 'chatgp');
    const seen = LONG_HOST.replace('good.example', '[good.example]');
    const target = RETURNS.replace('good.example', '[good.example]');

    async function goToConsent(page: Page, changes: Record<string, string> = {}) {
      const redirect_uri = `https://${RETURNS}:8443/cb`;
      const members = { redirect_uris: [redirect_uri], client_name: NAME };
      const published = await publish(certificates, members, LONG_HOST);
      const asked = { ...request(published), redirect_uri, ...changes };
      await page.goto(`${world.publicUrl}/oauth/authorize?${new URLSearchParams(asked)}`);
      return { published, redirect_uri };
    }

    async function goToConnections(page: Page) {
      const redirect_uri = 'http://127.0.0.1:9/callback';
      const members = { redirect_uris: [redirect_uri], client_name: NAME };
      const published = await publish(certificates, members, LONG_HOST);
      const account_id = world.accounts.ada;
      const { code } = await approved(
        world,
        await begin(world, published, { redirect_uri }),
        account_id,
      );
      await redeem(world, code, { client_id: published.address, redirect_uri });
      await page.goto(await world.connectionsOf(account_id));
      return page.locator('li', { has: page.locator('h2 strong') });
    }

    /** Every page that names an application, with the hosts on it. */
    const pages: [name: string, hosts: string[], go: (page: Page) => Promise<unknown>][] = [
      ['consent', [seen, seen, target, seen], (page) => goToConsent(page)],
      ['refusal', [target, target], (page) => goToConsent(page, { response_type: 'token' })],
      [
        'denied',
        [target, target],
        async (page) => {
          await goToConsent(page);
          await page.getByRole('button', { name: 'Deny', exact: true }).click();
          await page.getByRole('heading', { name: 'Nothing was connected' }).waitFor();
        },
      ],
      [
        'expired',
        [target, target],
        async (page) => {
          await goToConsent(page);
          await page.getByRole('button', { name: 'Deny', exact: true }).waitFor();
          world.advance(3_600_000);
          await page.reload();
          await page.getByRole('heading', { name: 'has expired' }).waitFor();
        },
      ],
      ['connections', [seen], goToConnections],
      [
        'disconnect',
        [seen, seen],
        async (page) => {
          const one = await goToConnections(page);
          await one.first().getByRole('link', { name: 'Disconnect' }).click();
          await page.getByRole('heading', { name: 'Disconnect' }).waitFor();
        },
      ],
      [
        'disconnected',
        [seen],
        async (page) => {
          const one = await goToConnections(page);
          await one.first().getByRole('link', { name: 'Disconnect' }).click();
          await page.getByRole('button', { name: 'Disconnect' }).click();
          await page.getByRole('status').waitFor();
        },
      ],
    ];

    test.each(pages)('%s', async (name, hosts, go) => {
      const { page } = await open();
      await go(page);
      if (name.startsWith('con')) {
        expect(await page.locator('h1, h2').allInnerTexts()).toContainEqual(
          expect.stringContaining(`${LONG_HOST}, which calls itself “${NAME}”`),
        );
        const [claim] = await page.evaluate<string[][]>(CLAIMS_SEEN);
        expect(claim).toEqual([`“${NAME}”`, 'underline']);
      }
      for (const viewport of [
        { width: 360, height: 640 },
        { width: 1280, height: 720 },
        // 1280 × 1024 at 400 % (WCAG 2.2, 1.4.10).
        { width: 320, height: 256 },
      ]) {
        await page.setViewportSize(viewport);
        const found = await page.evaluate<string[]>(HOSTS_SEEN);
        expect([...new Set(found)].sort()).toEqual([...new Set(hosts)].sort());
        expect(found.length).toBeGreaterThanOrEqual(hosts.length);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      }
    });
  });

  test('is told by a click that its request was wrong', async () => {
    const { page, callbacks, isHere, goBack } = await askedBy({ response_type: 'token' });
    await page.getByRole('heading', { name: 'asked in a wrong way' }).waitFor();
    expect([isHere(), callbacks]).toEqual([true, []]);
    expect(await violationsOf(page)).toEqual([]);
    await goBack();
    expect(callbacks).toMatchObject([{ error_code: 'response_type_unsupported' }]);
  });

  test('is told by a click that the user denied', async () => {
    const { page, callbacks, isHere, goBack } = await askedBy();
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    await page.getByRole('heading', { name: 'Nothing was connected' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/link\/[\da-f-]{36}\/done$/);
    expect([isHere(), callbacks]).toEqual([true, []]);
    expect(await page.locator('main').textContent()).toContain('Ada Lovelace');
    expect(await violationsOf(page)).toEqual([]);
    await goBack();
    expect(callbacks).toMatchObject([{ error: 'access_denied', state: 'a state' }]);
  });
});
