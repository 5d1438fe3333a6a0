import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { invoke, succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from './link-flow.ts';
import { type OpenPage, openConsent, visit } from './page-flow.ts';

const OTHER = 'https://app.example/other';

describeOnEachStore('what has ended stays ended', (fresh) => {
  const server = useServer(fresh, LINKING);

  const call = (name: Parameters<typeof succeed>[1], input: object) =>
    succeed(server, name, input as never, operator);
  const update = ({ application_id }: LinkingApplication, changes: object) =>
    call('admin.applications.update', { application_id, ...changes });
  const answer = (page: OpenPage, decision: string) =>
    visit(server, page.path, {
      cookie: page.cookie,
      form: { form_token: page.form_token, decision },
    });
  const readStatus = async (link: string) => {
    const { status, body } = await invoke(server, 'REST', 'admin.links.read', { link }, operator);
    return status === 200 ? body.status : body.error_code;
  };
  const convert = async (app: LinkingApplication, code: string) => {
    const input = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    const { status, body } = await invoke(server, 'REST', 'grants.convert', input, app.bearer);
    return status === 200 ? 'converted' : body.error_code;
  };
  const codeOf = (location: string | null) => addedTo(CALLBACK, location ?? '').code as string;

  /** Everything that can be under way at an application. */
  async function underWay(app: LinkingApplication, changes = {}) {
    const page = await openConsent(server, app, changes);
    const { link } = await app.begin(changes);
    const approved = await openConsent(server, app, changes);
    const { headers } = await answer(approved, 'allow');
    return { page, links: [link, page.link], code: codeOf(headers.get('location')) };
  }

  async function expectOver(
    { page, links }: Awaited<ReturnType<typeof underWay>>,
    app: LinkingApplication,
  ) {
    const { account_id } = app;
    for (const link of links) {
      for (const [name, input] of [
        ['admin.links.read', { link }],
        ['admin.links.identify', { link, account_id }],
        ['admin.links.approve', { link, account_id }],
        ['admin.links.deny', { link }],
      ] as const) {
        const { status, body } = await invoke(server, 'REST', name, input, operator);
        expect([name, status, body.error_code]).toEqual([name, 404, 'link_not_found']);
      }
    }
    const shown = await visit(server, page.path, page);
    expect([shown.status, shown.text.includes('page_expired')]).toEqual([410, true]);
    for (const decision of ['allow', 'deny', 'switch']) {
      const refused = await answer(page, decision);
      expect([refused.status, refused.text.includes('page_expired')]).toEqual([410, true]);
    }
  }

  test('links, pages and codes of an application that is enabled again', async () => {
    const app = await linkingApplication(server);
    const { application_id, account_id } = app;
    const before = await underWay(app);
    const unconverted = await call('admin.codes.issue', {
      ...{ application_id, account_id, scope: 'profile.read', redirect_uri: CALLBACK },
    });
    await call('admin.applications.disable', { application_id });
    // An operator may still issue a code.
    const during = await call('admin.codes.issue', { application_id, account_id, scope: 'a' });
    await call('admin.applications.enable', { application_id });

    await expectOver(before, app);
    for (const code of [before.code, unconverted.code]) {
      expect(await convert(app, code)).toBe('code_not_found');
    }
    const { grant_id } = unconverted;
    const cancelled = await invoke(server, 'REST', 'admin.codes.cancel', { grant_id }, operator);
    expect(cancelled.body.error_code).toBe('grant_not_found');
    const { body } = await invoke(
      server,
      'REST',
      'admin.accounts.export',
      { account_id },
      operator,
    );
    expect(body.codes.map((code: { grant_id: string }) => code.grant_id)).toEqual([
      during.grant_id,
    ]);
    const { status } = await invoke(
      server,
      'REST',
      'grants.convert',
      { code: during.code },
      app.bearer,
    );
    expect(status).toBe(200);
    expect(await convert(app, (await underWay(app)).code)).toBe('converted');
    server.advance(300_000);
    expect(await convert(app, before.code)).toBe('code_expired');
  });

  describe('links that ask for', () => {
    test.each<[string, object, object]>([
      ['a redirect URI', { redirect_uris: [OTHER] }, { redirect_uris: [CALLBACK, OTHER] }],
      ['a scope', { scopes: ['profile.read'] }, { scopes: null }],
      [
        'a scope of a list',
        { scopes: ['profile.read'] },
        { scopes: ['profile.read', 'posts.read'] },
      ],
    ])('%s that was taken away and put back', async (what, removal, putBack) => {
      const scopes = what.endsWith('list') ? ['profile.read', 'posts.read'] : null;
      const app = await linkingApplication(server, { redirect_uris: [CALLBACK, OTHER], scopes });
      const before = await underWay(app);
      const other = await app.begin(
        what.startsWith('a scope') ? { scope: 'profile.read' } : { redirect_uri: OTHER },
      );
      await update(app, removal);
      await expectOver(before, app);
      await update(app, putBack);
      await expectOver(before, app);
      expect(await readStatus(other.link)).toBe('open');
      expect(await convert(app, before.code)).toBe('converted');
      expect(await convert(app, (await underWay(app)).code)).toBe('converted');
    });

    test('a scope whose description was deleted and put again', async () => {
      const app = await linkingApplication(server);
      const scope = `scope-${randomUUID()}`;
      const texts = { scope, title: 'A scope' };
      await call('admin.scopes.put', texts);
      const asking = { scope: `profile.read ${scope}` };
      const before = await underWay(app, asking);
      const other = await app.begin();
      await call('admin.scopes.put', { ...texts, title: 'The same in other words' });
      expect(await readStatus(before.links[0] ?? '')).toBe('open');
      await call('admin.scopes.delete', { scope });
      await expectOver(before, app);
      await call('admin.scopes.put', texts);
      await expectOver(before, app);
      expect(await readStatus(other.link)).toBe('open');
      expect(await convert(app, before.code)).toBe('converted');
      expect(await convert(app, (await underWay(app, asking)).code)).toBe('converted');
    });
  });
});
