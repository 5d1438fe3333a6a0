import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { invoke, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import { LINKING, type LinkingApplication, linkingApplication } from './link-flow.ts';
import {
  identify,
  type OpenPage,
  open,
  openConnections,
  openConsent,
  pathOf,
  visit,
} from './page-flow.ts';

describeOnAnyStore('a host with a consent page of its own', (fresh) => {
  const server = useServer(fresh, LINKING);

  const newAccount = async () => {
    const account_id = randomUUID();
    await succeed(server, 'admin.accounts.put', { account_id, username: 'bob' }, operator);
    return account_id;
  };
  const identifyOwn = (link: string, account_id: string) =>
    succeed(server, 'admin.links.identify', { link, account_id, own_page: true }, operator);
  const approve = async (link: string, account_id: string, more = {}) => {
    const input = { link, account_id, ...more };
    const { status, body } = await invoke(server, 'REST', 'admin.links.approve', input, operator);
    return status === 200 ? `approved for ${body.account_id}` : body.error_code;
  };
  const switchAccount = async (page: OpenPage) => {
    const form = { form_token: page.form_token, decision: 'switch' };
    const { headers } = await visit(server, page.path, { cookie: page.cookie, form });
    return new URL(headers.get('location') ?? '').searchParams.get('link') ?? '';
  };
  const statusOf = async (link: string) =>
    (await succeed(server, 'admin.links.read', { link }, operator)).status;

  for (const wire of wires) {
    test(`gets no page, and ends the earlier ones, over ${wire}`, async () => {
      const app = await linkingApplication(server);
      const page = await openConsent(server, app);
      const unopened = await identify(server, page.link, app);
      const input = { link: page.link, account_id: app.account_id, own_page: true };
      const { status, body } = await invoke(server, wire, 'admin.links.identify', input, operator);
      expect([status, body.redirect_to, body.status]).toEqual([200, null, 'identified']);
      expect((await visit(server, page.path, page)).status).toBe(410);
      expect((await visit(server, pathOf(unopened))).status).toBe(410);
      expect(await approve(page.link, app.account_id)).toBe(`approved for ${app.account_id}`);
    });
  }

  test('approves for the account that was identified last, and for no other', async () => {
    const { begin, account_id } = await linkingApplication(server);
    const other = await newAccount();
    const { link } = await begin();
    await identifyOwn(link, account_id);
    expect(await approve(link, other)).toBe('account_changed');
    expect(await statusOf(link)).toBe('identified');
    await identifyOwn(link, other);
    expect(await approve(link, account_id)).toBe('account_changed');
    expect(await approve(link, other)).toBe(`approved for ${other}`);
    expect(await approve(link, other)).toBe(`approved for ${other}`);
    expect(await approve(link, account_id)).toBe('link_decided');
  });

  test('hears of other faults first, and of this one with a page of ours too', async () => {
    const app = await linkingApplication(server);
    const page = await openConsent(server, app, { scope: 'profile.read' });
    const other = await newAccount();
    const more = { scope: 'posts.read' };
    expect(await approve('lk_link_x', other, more)).toBe('link_not_found');
    expect(await approve(page.link, randomUUID(), more)).toBe('account_not_found');
    expect(await approve(page.link, other, more)).toBe('scope_unknown');
    expect(await approve(page.link, other)).toBe('account_changed');
    server.advance(3_600_000);
    expect(await approve(page.link, other)).toBe('link_expired');
  });

  test('approves for anybody once the user has asked for another account', async () => {
    const app = await linkingApplication(server);
    const other = await newAccount();
    const first = await switchAccount(await openConsent(server, app));
    expect(await approve(first, other)).toBe(`approved for ${other}`);

    const second = await switchAccount(await openConsent(server, app));
    await identifyOwn(second, app.account_id);
    expect(await approve(second, other)).toBe('account_changed');
  });

  test('hears of another account that was identified only while it approved', async () => {
    const { begin, account_id } = await linkingApplication(server);
    const other = await newAccount();
    const { link } = await begin();
    const { store } = server.service;
    const { decideLink } = store;
    store.decideLink = async (decision) => {
      store.decideLink = decideLink;
      await identifyOwn(link, other);
      const decided = await decideLink(decision);
      await identifyOwn(link, account_id);
      return decided;
    };
    expect(await approve(link, account_id)).toBe('account_changed');
    expect(await approve(link, account_id)).toBe(`approved for ${account_id}`);
  });

  test('approves for nobody who was identified in between', async () => {
    const { begin, account_id } = await linkingApplication(server);
    const other = await newAccount();
    for (let round = 0; round < 10; round++) {
      const { link } = await begin();
      await identifyOwn(link, account_id);
      const [outcome] = await Promise.all([
        approve(link, account_id),
        invoke(
          server,
          'REST',
          'admin.links.identify',
          { link, account_id: other, own_page: true },
          operator,
        ),
      ]);
      expect([`approved for ${account_id}`, 'account_changed']).toContain(outcome);
      const { status, account_id: last } = await succeed(
        server,
        'admin.links.read',
        { link },
        operator,
      );
      const isApproved = outcome !== 'account_changed';
      expect([status, last]).toEqual(isApproved ? ['approved', account_id] : ['identified', other]);
    }
  });
});

describeOnAnyStore('the pages of a user who has signed out', (fresh) => {
  const server = useServer(fresh, LINKING);

  async function everyPage(app: LinkingApplication) {
    const { account_id } = app;
    const { link } = await app.begin();
    const connections = { page: 'connections', account_id };
    const consent = await openConsent(server, app);
    return {
      consent,
      opened: [consent, await openConnections(server, account_id)],
      unopened: [
        await identify(server, link, app),
        (await succeed(server, 'admin.pages.create', connections, operator)).url,
      ],
    };
  }

  for (const wire of wires) {
    test(`are over, and a new one works, over ${wire}`, async () => {
      const app = await linkingApplication(server);
      const other = await linkingApplication(server);
      const { account_id } = app;
      const kept = await openConnections(server, other.account_id);
      for (let time = 0; time < 2; time++) {
        const { consent, opened, unopened } = await everyPage(app);
        const input = { account_id };
        const { status, body } = await invoke(server, wire, 'admin.pages.end', input, operator);
        expect([status, body]).toEqual([200, { object: 'pages_ended', account_id }]);
        for (const page of opened) {
          const shown = await visit(server, page.path, page);
          expect([shown.status, shown.text.includes('page_expired')]).toEqual([410, true]);
        }
        for (const url of unopened) expect((await visit(server, pathOf(url))).status).toBe(410);
        const form = { form_token: consent.form_token, decision: 'allow' };
        const allowed = await visit(server, consent.path, { cookie: consent.cookie, form });
        expect(allowed.status).toBe(410);

        // Its link stays.
        const again = await open(server, await identify(server, consent.link, app));
        expect((await visit(server, again.path, again)).status).toBe(200);
        const list = await openConnections(server, account_id);
        expect((await visit(server, list.path, list)).status).toBe(200);
      }
      expect((await visit(server, kept.path, kept)).status).toBe(200);
      const nobody = { account_id: randomUUID() };
      expect((await invoke(server, wire, 'admin.pages.end', nobody, operator)).status).toBe(200);
      const unknown = await invoke(server, wire, 'admin.accounts.get', nobody, operator);
      expect(unknown.body.error_code).toBe('account_not_found');
    });
  }
});
