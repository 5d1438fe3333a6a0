import { randomUUID } from 'node:crypto';
import { PAGE_ACTIONS } from '@latchkey/rules/limits/rate-limit-setting';
import type { AccountRecord } from '@latchkey/store/records';
import { anAccount, anApplication, granted, inPortions } from '@latchkey/store-suite/records';
import { describe, expect, test } from 'vitest';
import { cursorOf } from '../../src/operations/connections.ts';
import { invoke, type Json, succeed, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import { LINKING, type LinkingApplication, linkingApplication, PUBLIC_URL } from './link-flow.ts';
import {
  formTokenIn,
  type OpenPage,
  openConnections,
  openConsent,
  pathOf,
  visit,
} from './page-flow.ts';

describeOnEachStore('the connected applications', (fresh) => {
  const server = useServer(fresh, { ...LINKING, RATE_LIMIT: 'on' });

  /** Gives the application a grant of an account. */
  async function connect(
    { application_id, bearer }: LinkingApplication,
    account_id: string,
    scope = 'profile.read',
  ): Promise<string> {
    const input = { application_id, account_id, scope };
    const { code } = await succeed(server, 'admin.codes.issue', input, operator);
    const grant = await succeed(server, 'grants.convert', { code }, bearer);
    return `Bearer ${grant.grant_secret}`;
  }

  const disconnect = (page: OpenPage, application_id: string, form: object = {}) =>
    visit(server, `/connections/${application_id}`, {
      cookie: page.cookie,
      form: { form_token: page.form_token, decision: 'disconnect', ...form },
    });

  test('are opened by a ticket, once, for 30 minutes', async () => {
    const { account_id } = await linkingApplication(server);
    const { url } = await succeed(
      server,
      'admin.pages.create',
      { page: 'connections', account_id },
      operator,
    );
    const opened = await visit(server, pathOf(url));
    expect(opened.status).toBe(303);
    expect(opened.headers.get('location')).toMatch(
      new RegExp(`^${PUBLIC_URL}/connections\\?opened=[0-9a-f-]{36}$`),
    );
    const [pair = '', ...attributes] = (opened.headers.get('set-cookie') ?? '').split('; ');
    expect(pair).toMatch(/^__Host-latchkey_connections=lk_page_[0-9A-Za-z]{71}$/);
    expect(attributes).toContain('Max-Age=1800');
    expect((await visit(server, '/connections', { cookie: pair })).status).toBe(200);
    expect((await visit(server, pathOf(url))).status).toBe(410);
    const again = await visit(server, pathOf(url), { cookie: pair });
    expect([again.status, again.headers.has('set-cookie')]).toEqual([303, false]);
    server.advance(1_799_999);
    expect((await visit(server, '/connections', { cookie: pair })).status).toBe(200);
    server.advance(1);
    const over = await visit(server, '/connections', { cookie: pair });
    expect([over.status, over.text.includes('page_expired')]).toEqual([410, true]);
  });

  test('are listed by name, with what they can do', async () => {
    const b = await linkingApplication(server, { name: 'Bravo <i>' });
    const logo_uri = 'https://logos.example/a.png';
    const a = await linkingApplication(server, { name: 'Alpha', logo_uri });
    await connect(b, b.account_id);
    await connect(b, b.account_id, 'posts.read undescribed');
    await connect(a, b.account_id);
    await connect(a, a.account_id);
    const page = await openConnections(server, b.account_id, {
      return_url: 'https://host.example/settings?a=1&b=2',
      locale: 'de-AT',
    });
    const { status, headers, text } = await visit(server, '/connections', page);
    expect(status).toBe(200);
    const names = [...text.matchAll(/<h2[^>]*><bdi>(.*?)<\/bdi>/g)].map(([, name]) => name);
    expect(names).toEqual(['Alpha', 'Bravo &lt;i&gt;']);
    expect(text).toContain('<p class="name"><bdi>Ada Lovelace</bdi></p>');
    const scopes = [...text.matchAll(/<li[^>]*><p class="name"><bdi>(.*?)<\/bdi>/g)].map(
      ([, one]) => one,
    );
    expect(scopes.sort()).toEqual([
      'Ihre Beiträge lesen',
      'Read your profile',
      'Read your profile',
      'undescribed',
    ]);
    expect(text).toContain('<html lang="de"');
    expect(text).toContain('href="https://host.example/settings?a=1&amp;b=2" rel="noreferrer"');
    expect(headers.get('content-security-policy')).toContain(
      "img-src 'self' data: https://logos.example; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
    );
  });

  /** Straight in the store. */
  async function connectAs(names: string[], account: AccountRecord, grants = 1) {
    const { store } = server.service;
    await inPortions(names.length, async (index) => {
      const application = anApplication({ name: names[index] as string });
      await store.createApplication(application);
      await inPortions(grants, async () => {
        await granted(store, { account, application_id: application.id });
      });
    });
  }

  test('have pages of 50, with a link to the next one', async () => {
    const { account_id } = await linkingApplication(server);
    const names = Array.from({ length: 101 }, (_, index) => `App ${100 + index}`);
    await connectAs(names, anAccount({ id: account_id }));
    const page = await openConnections(server, account_id);
    const found: string[][] = [];
    let path: string | undefined = '/connections';
    while (path !== undefined) {
      const { status, text } = await visit(server, path, page);
      expect(status).toBe(200);
      found.push([...text.matchAll(/<h2[^>]*><bdi>(.*?)<\/bdi>/g)].map(([, name]) => name ?? ''));
      const [, next] = /<a class="button calm" rel="next" href="([^"]*)"/.exec(text) ?? [];
      path = next && pathOf(new URL(next, PUBLIC_URL).href);
    }
    expect(found).toEqual([names.slice(0, 50), names.slice(50, 100), names.slice(100)]);
    const [first = []] = found;
    const cursorAt = (name: string) => cursorOf({ application_id: randomUUID(), name });
    // What is no cursor is the first page; behind the last connection, too.
    for (const cursor of ['', 'x', cursorAt('App 999')]) {
      const { text } = await visit(server, `/connections?cursor=${cursor}`, page);
      expect(text).toContain(`<bdi>${first[0]}</bdi>`);
    }
    const { text } = await visit(server, `/connections?cursor=${cursorAt('App 198~')}`, page);
    expect([text.includes('App 198<'), text.includes('App 199<')]).toEqual([false, true]);
  });

  test('are paged for operators, each with its newest 100 grants', async () => {
    const { account_id } = await linkingApplication(server);
    const account = anAccount({ id: account_id });
    const names = ['é', 'a', 'B', 'a', '𝒜', '\ufb00'];
    await connectAs(names, account);
    await connectAs(['z'], account, 101);
    for (const wire of wires) {
      const call = (input: object) =>
        invoke(server, wire, 'admin.connections.list', { account_id, ...input }, operator);
      const found: Json[] = [];
      let cursor: string | null | undefined;
      do {
        const { body } = await call({ limit: 3, ...(cursor && { cursor }) });
        found.push(...body.data);
        cursor = body.next_cursor;
        expect(body.data).toHaveLength(cursor === null ? 1 : 3);
      } while (cursor !== null);
      const shown = found.map(({ application }) => application.name);
      expect(shown).toEqual(['B', 'a', 'a', 'z', 'é', '\ufb00', '𝒜']);
      const [, first, second, many] = found;
      expect(first?.application.id < second?.application.id).toBe(true);
      expect([first?.grants_total, many?.grants_total, many?.grants.length]).toEqual([1, 101, 100]);
      const ids = many?.grants.map(({ grant_id }: Json) => grant_id);
      expect(ids).toEqual(ids.toSorted().reverse());
      const all = await succeed(server, 'admin.grants.list', { account_id, limit: 100 }, operator);
      expect(ids).toEqual(all.data.map(({ grant_id }: Json) => grant_id));
      const place = cursorOf({ application_id: randomUUID(), name: 'a' }) as string;
      for (const cursor of ['x', 'A'.repeat(22), `${place}=`, `${place.slice(0, 22)}__8`]) {
        const { status, body } = await call({ cursor });
        expect([status, body.error_code]).toEqual([400, 'parameter_invalid']);
      }
    }
  });

  test('are listed as paused while their application is disabled', async () => {
    const linking = await linkingApplication(server);
    const { account_id, application_id } = linking;
    await connect(linking, account_id);
    const page = await openConnections(server, account_id);
    const list = async () => (await visit(server, page.path, page)).text;
    expect(await list()).not.toContain('has paused it');
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    expect(await list()).toContain('has paused it');
    await succeed(server, 'admin.applications.enable', { application_id }, operator);
    expect(await list()).not.toContain('has paused it');
  });

  test('say so if there is none', async () => {
    const { account_id } = await linkingApplication(server);
    const page = await openConnections(server, account_id);
    const { text } = await visit(server, page.path, page);
    expect(text).toContain('No application is connected');
  });

  test('end one by one, at once, and only those of the account', async () => {
    const linking = await linkingApplication(server);
    const other = await linkingApplication(server);
    const { account_id, application_id } = linking;
    const ended = [await connect(linking, account_id), await connect(linking, account_id)];
    const kept = [await connect(other, account_id), await connect(linking, other.account_id)];
    const page = await openConnections(server, account_id);
    const question = await visit(server, `/connections/${application_id.toUpperCase()}`, page);
    expect(question.status).toBe(200);
    expect(question.text).toContain('Disconnect <bdi>Acme</bdi>?');
    const form_token = formTokenIn(question.text);

    const done = await disconnect({ ...page, form_token }, application_id);
    expect([done.status, done.headers.has('set-cookie')]).toEqual([303, false]);
    expect(done.headers.get('location')).toBe(`${PUBLIC_URL}/connections?done=${application_id}`);
    const stillWork = async (grants: string[]) => {
      const calls = grants.map((grant) => invoke(server, 'REST', 'account.get', {}, grant));
      return (await Promise.all(calls)).map(({ status }) => status);
    };
    expect(await stillWork(ended)).toEqual([401, 401]);
    expect(await stillWork(kept)).toEqual([200, 200]);
    // A repeat does no harm.
    const again = await disconnect({ ...page, form_token }, application_id);
    expect(again.headers.get('location')).toBe(done.headers.get('location'));

    const list = async (query: string) => (await visit(server, `/connections${query}`, page)).text;
    for (const id of [application_id, application_id.toUpperCase()]) {
      const told = await list(`?done=${id}`);
      expect(told).toContain('<bdi>Acme</bdi> is disconnected.');
      expect(told).toContain('<title>\u2068Acme\u2069 is disconnected');
    }
    // Another site can't make a person believe that a connection has ended.
    const never = await linkingApplication(server);
    for (const id of [other.application_id, never.application_id, randomUUID(), 'x']) {
      expect(await list(`?done=${id}`)).not.toContain('role="status"');
    }
    const line = server.lines
      .map((text) => JSON.parse(text))
      .find(({ msg, action }) => msg === 'audit' && action === 'admin.connections.revoke');
    expect(line).toMatchObject({ by: 'user', account_id, application_id, result: 'done' });
  });

  test('have a limit by page, which another page does not share', async () => {
    const linking = await linkingApplication(server);
    const { account_id, application_id } = linking;
    await connect(linking, account_id);
    const opened = await openConnections(server, account_id);
    const { text } = await visit(server, `/connections/${application_id}`, opened);
    const page = { ...opened, form_token: formTokenIn(text) };
    // It was shown twice so far.
    for (let turn = 2; turn < PAGE_ACTIONS.limit; turn++) {
      expect((await visit(server, '/connections', page)).status).toBe(200);
    }
    for (const refused of [
      await visit(server, '/connections', page),
      await visit(server, `/connections/${application_id}`, page),
      await disconnect(page, application_id),
    ]) {
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
      expect(refused.text).toContain('rate_limited');
    }
    const other = await openConnections(server, account_id);
    expect((await visit(server, `/connections/${application_id}`, other)).status).toBe(200);
    const consent = await openConsent(server, linking);
    const switchAccount = () =>
      visit(server, consent.path, {
        cookie: consent.cookie,
        form: { form_token: consent.form_token, decision: 'switch' },
      });
    for (let turn = 0; turn < PAGE_ACTIONS.limit; turn++) {
      expect((await switchAccount()).status).toBe(303);
    }
    expect((await switchAccount()).status).toBe(429);
    server.advance(PAGE_ACTIONS.seconds * 1_000);
    expect((await visit(server, '/connections', page)).status).toBe(200);
  });

  test('end with the codes that were not converted, also where there is no grant', async () => {
    const { account_id, application_id, bearer } = await linkingApplication(server);
    const other = await linkingApplication(server);
    const issue = async (application: string) => {
      const input = { application_id: application, account_id, scope: 'profile.read' };
      return (await succeed(server, 'admin.codes.issue', input, operator)).code;
    };
    const ended = await issue(application_id);
    const kept = await issue(other.application_id);
    const page = await openConnections(server, account_id);
    // The page of another connection has the same form token, and there is none of this one.
    await connect(other, account_id);
    const { text } = await visit(server, `/connections/${other.application_id}`, page);
    const form_token = formTokenIn(text);
    expect((await disconnect({ ...page, form_token }, application_id)).status).toBe(303);
    const convert = (code: string, by: string) =>
      invoke(server, 'REST', 'grants.convert', { code }, by);
    const { status, body } = await convert(ended, bearer);
    expect([status, body.error_code]).toEqual([400, 'code_not_found']);
    expect((await convert(kept, other.bearer)).status).toBe(200);
    server.advance(300_000);
    expect((await convert(ended, bearer)).body.error_code).toBe('code_expired');
  });

  describe('ask', () => {
    test('about nothing that is not connected', async () => {
      const { account_id, application_id } = await linkingApplication(server);
      const page = await openConnections(server, account_id);
      for (const id of [application_id, randomUUID(), 'nobody', '%0d%0aSet-Cookie:%20a=b']) {
        const { status, headers } = await visit(server, `/connections/${id}`, page);
        expect([status, headers.get('location')]).toEqual([303, `${PUBLIC_URL}/connections`]);
      }
    });

    test('the store for one grant of the application alone', async () => {
      const linking = await linkingApplication(server);
      const { account_id, application_id } = linking;
      await connect(linking, account_id);
      const page = await openConnections(server, account_id);
      const { store } = server.service;
      const { listActiveGrants } = store;
      const asked: unknown[] = [];
      store.listActiveGrants = (...filterAndPage) => {
        asked.push(filterAndPage);
        return listActiveGrants(...filterAndPage);
      };
      try {
        expect((await visit(server, `/connections/${application_id}`, page)).status).toBe(200);
      } finally {
        store.listActiveGrants = listActiveGrants;
      }
      expect(asked).toEqual([
        [
          { account_id, application_id },
          { limit: 1, before: null },
        ],
      ]);
    });

    test('nobody without the cookie', async () => {
      const { account_id, application_id } = await linkingApplication(server);
      const page = await openConnections(server, account_id);
      for (const path of ['/connections', `/connections/${application_id}`, '/connections/x']) {
        expect((await visit(server, path)).status).toBe(410);
      }
      expect((await disconnect({ ...page, cookie: '' }, application_id)).status).toBe(410);
    });

    test('and take an answer of their own alone', async () => {
      const linking = await linkingApplication(server);
      const { account_id, application_id } = linking;
      const grant = await connect(linking, account_id);
      const page = await openConnections(server, account_id, {
        return_url: 'https://host.example/settings',
      });
      const { text } = await visit(server, `/connections/${application_id}`, page);
      const own = { ...page, form_token: formTokenIn(text) };
      for (const [form, status] of [
        [{ form_token: 'x' }, 403],
        [{ decision: 'allow' }, 400],
        [{ decision: '' }, 400],
      ] as const) {
        const refused = await disconnect(own, application_id, form);
        expect(refused.status).toBe(status);
        const [, back] = /<a class="button calm" href="([^"]*)"/.exec(refused.text) ?? [];
        expect(back).toBe(
          status === 403 ? `/base/connections/${application_id}` : 'https://host.example/settings',
        );
      }
      expect((await disconnect(own, 'nobody')).status).toBe(400);
      const { status } = await invoke(server, 'REST', 'account.get', {}, grant);
      expect(status).toBe(200);
    });
  });
});
