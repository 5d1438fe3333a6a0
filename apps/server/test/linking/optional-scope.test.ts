import { beforeAll, describe, expect, test } from 'vitest';
import { invoke, type Json, succeed } from '../http/call.ts';
import { describeOnAnyStore, describeOnEachStore } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  type Changes,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from './link-flow.ts';
import { type OpenPage, openConsent, visit } from './page-flow.ts';

/** Described, besides those that every application of the tests knows. */
const MORE = ['posts.write', 'money.send', 'files.read'];

const MANY = Array.from({ length: 32 }, (_, i) => `many.${i}`);

const describeMore = async (server: { url: string }) => {
  for (const scope of [...MORE, ...MANY]) {
    const input = { scope, title: `May ${scope}`, sensitive: scope === 'money.send' };
    await succeed(server, 'admin.scopes.put', input, operator);
  }
};

describeOnAnyStore('an optional scope', (fresh) => {
  const server = useServer(fresh, LINKING);
  beforeAll(() => describeMore(server));

  const resourceOf = (scopes: string[]): Promise<Json> =>
    succeed(
      server,
      'admin.resources.create',
      { resource: `https://mcp.example/${scopes.join('/')}`, name: 'Notes', scopes },
      operator,
    );

  async function asked(app: LinkingApplication, changes: Changes) {
    const { link } = await app.begin(changes);
    const read = await succeed(server, 'admin.links.read', { link }, operator);
    expect(read.scopes.map(({ scope }: Json) => scope).join(' ')).toBe(read.scope);
    const optional = read.optional_scopes.map(({ scope }: Json) => scope);
    expect(optional.join(' ') || null).toBe(read.optional_scope);
    return [read.scope, read.optional_scope];
  }

  async function refused(app: LinkingApplication, changes: Changes) {
    const { headers } = await authorize(server, { ...app.request, ...changes });
    return addedTo(`${CALLBACK}&`, headers.get('location') ?? '').error_code;
  }

  test.each([
    [undefined, null],
    ['', null],
    ['  ', null],
    ['posts.write money.send', 'posts.write money.send'],
    // What is asked for anyway is no longer optional.
    ['posts.write profile.read', 'posts.write'],
    ['posts.read profile.read', null],
  ])('of %j is asked for as %j', async (optional_scope, kept) => {
    const app = await linkingApplication(server);
    expect(await asked(app, { optional_scope })).toEqual(['profile.read posts.read', kept]);
  });

  test.each([
    ['posts.write offline_access'],
    ['posts.write  money.send'],
    ['posts.write posts.write'],
    ['files.read'],
    ['posts.write "'],
  ])('of %j is refused, as a scope would be', async (optional_scope) => {
    const scopes = ['profile.read', 'posts.read', 'posts.write', 'money.send'];
    const app = await linkingApplication(server, { scopes });
    expect(await refused(app, { optional_scope })).toBe('scope_unknown');
  });

  test('makes no request good that names no scope, and is named once', async () => {
    const app = await linkingApplication(server);
    const optional_scope = 'posts.write';
    expect(await refused(app, { scope: undefined, optional_scope })).toBe('scope_unknown');
    const twice = { optional_scope: [optional_scope, optional_scope] };
    expect(await refused(app, twice)).toBe('parameter_invalid');
    // It is refused before the scope is read.
    expect(await refused(app, { ...twice, scope: 'nobody.knows' })).toBe('parameter_invalid');
  });

  test('has at most 32 tokens and 1,000 characters, together with the scope', async () => {
    const app = await linkingApplication(server);
    const optional_scope = MANY.slice(0, 31).join(' ');
    const scope = 'profile.read';
    expect(await asked(app, { scope, optional_scope })).toEqual([scope, optional_scope]);
    expect(await refused(app, { optional_scope })).toBe('scope_unknown');

    // With a resource too, where so much else is forgiven.
    const { resource } = await resourceOf(['profile.read', 'posts.read', ...MANY.slice(0, 30)]);
    const forgiven = await asked(app, { resource, optional_scope });
    expect(forgiven[1]).toBe(MANY.slice(0, 30).join(' '));
    const { resource: wide } = await succeed(
      server,
      'admin.resources.create',
      { resource: 'https://mcp.example/wide', name: 'Notes' },
      operator,
    );
    expect(await refused(app, { resource: wide, optional_scope })).toBe('scope_unknown');
  });

  test('is forgiven with a resource, and does without what its default has', async () => {
    const app = await linkingApplication(server, { scopes: ['posts.read', 'posts.write'] });
    const { resource } = await resourceOf(['posts.read', 'posts.write', 'files.read']);
    const optional_scope = ' files.read  offline_access posts.write ';
    const scope = 'posts.read';
    expect(await asked(app, { resource, scope, optional_scope })).toEqual([scope, 'posts.write']);
    expect(await asked(app, { resource, scope, optional_scope: 'openid' })).toEqual([scope, null]);
    const byDefault = { resource, scope: undefined, optional_scope };
    expect(await asked(app, byDefault)).toEqual(['posts.read posts.write', null]);
  });
});

describeOnEachStore('what a user allows of an optional scope', (fresh) => {
  const server = useServer(fresh, LINKING);
  beforeAll(() => describeMore(server));

  const OPTIONAL = 'posts.write money.send files.read';

  const answer = ({ path, cookie, form_token }: OpenPage, decision: string, checked: string[]) => {
    const boxes = checked.map((token): [string, string] => ['optional_scope', token]);
    const form: [string, string][] = [['form_token', form_token], ...boxes];
    return visit(server, path, { cookie, form: [...form, ['decision', decision]] });
  };

  async function convert({ bearer }: LinkingApplication, location: string | null) {
    const { code } = addedTo(`${CALLBACK}&`, location ?? '');
    const input = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
    return (await succeed(server, 'grants.convert', input, bearer)).scope;
  }

  test('is what is checked, in the order of the request', async () => {
    const app = await linkingApplication(server);
    const page = await openConsent(server, app, { optional_scope: OPTIONAL });
    const { text } = await visit(server, page.path, page);
    expect([...text.matchAll(/<input type="checkbox" ([^>]*)>/g)].map(([, rest]) => rest)).toEqual(
      OPTIONAL.split(' ').map((token) => `name="optional_scope" value="${token}"`),
    );

    const first = await answer(page, 'allow', ['files.read', 'posts.write', 'files.read']);
    expect(first.status).toBe(303);
    const location = first.headers.get('location');
    // The same decision again, and another one.
    const same = await answer(page, 'allow', ['posts.write', 'files.read']);
    expect(same.headers.get('location')).toBe(location);
    for (const other of [[], ['posts.write'], ['posts.write', 'files.read', 'money.send']]) {
      const { status, text } = await answer(page, 'allow', other);
      expect([status, text.includes('link_decided')]).toEqual([409, true]);
    }
    expect(await convert(app, location)).toBe('profile.read posts.read posts.write files.read');
  });

  test('is nothing where nothing is checked', async () => {
    const app = await linkingApplication(server);
    const page = await openConsent(server, app, { optional_scope: OPTIONAL });
    const { headers } = await answer(page, 'allow', []);
    expect(await convert(app, headers.get('location'))).toBe('profile.read posts.read');
  });

  test.each([
    [['profile.read']],
    [['posts.write', 'offline_access']],
    [['posts.write files.read']],
  ])('is never %j, which is not optional: the page is shown again', async (checked) => {
    const app = await linkingApplication(server, { homepage_uri: 'https://acme.example/' });
    const page = await openConsent(server, app, { optional_scope: OPTIONAL });
    const { status, text } = await answer(page, 'allow', checked);
    expect([status, text.includes('<dd>parameter_invalid</dd>')]).toEqual([400, true]);
    expect(text).toContain(`href="/base${page.path}">Open the page again</a>`);
    const { link } = page;
    const read = await succeed(server, 'admin.links.read', { link }, operator);
    expect(read.status).toBe('identified');
    // What is not allowed needs none.
    expect((await answer(page, 'switch', checked)).status).toBe(303);
    expect((await answer(page, 'deny', checked)).status).toBe(303);
  });

  test('is up to a host with a page of its own, as a part of both together', async () => {
    const app = await linkingApplication(server);
    const { account_id } = app;
    const approve = async (scope?: string) => {
      const { link } = await app.begin({ optional_scope: OPTIONAL });
      const input = { link, account_id, ...(scope !== undefined && { scope }) };
      const { status, body } = await invoke(server, 'REST', 'admin.links.approve', input, operator);
      return status === 200 ? convert(app, body.redirect_to) : body.error_code;
    };
    expect(await approve()).toBe('profile.read posts.read');
    expect(await approve('files.read posts.read')).toBe('posts.read files.read');
    expect(await approve('posts.write')).toBe('posts.write');
    expect(await approve('posts.write many.0')).toBe('scope_unknown');
  });

  describe('ends with the link request where', () => {
    test.each([
      [
        'the application may not ask for it any more',
        (application_id: string) =>
          succeed(
            server,
            'admin.applications.update',
            { application_id, scopes: ['profile.read', 'posts.read'] },
            operator,
          ),
      ],
      [
        'its description is replaced',
        async () => {
          await succeed(server, 'admin.scopes.delete', { scope: 'files.read' }, operator);
          await describeMore(server);
        },
      ],
    ])('%s', async (_, takeAway) => {
      const app = await linkingApplication(server);
      const page = await openConsent(server, app, { optional_scope: OPTIONAL });
      const other = await openConsent(server, app);
      await takeAway(app.application_id);
      const { status, text } = await answer(page, 'allow', []);
      expect([status, text.includes('page_expired')]).toEqual([410, true]);
      expect((await answer(other, 'allow', [])).status).toBe(303);
    });
  });
});

describeOnAnyStore('what a user already allows', (fresh) => {
  const server = useServer(fresh, LINKING);
  beforeAll(() => describeMore(server));

  async function grant(app: LinkingApplication, scope: string, members: object = {}) {
    const { application_id, account_id } = app;
    const input = { application_id, account_id, scope, ...members };
    const { code } = await succeed(server, 'admin.codes.issue', input, operator);
    return succeed(server, 'grants.convert', { code }, app.bearer);
  }

  /** The titles of the list, as the page shows them. */
  async function listed(app: LinkingApplication, changes: Record<string, string>) {
    const page = await openConsent(server, app, changes);
    const { text } = await visit(server, page.path, page);
    const [, below = ''] = text.split('<h2>You already allow</h2>');
    const [list = ''] = below.split('</ul>');
    return [...list.matchAll(/<bdi>(.*?)<\/bdi>/g)].map(([, title]) => title).sort();
  }

  test('is what its live grants of the same application and resource have, and is not asked for', async () => {
    const app = await linkingApplication(server, { idle_days: 2 });
    const { resource } = await succeed(
      server,
      'admin.resources.create',
      { resource: 'https://mcp.example/notes', name: 'Notes' },
      operator,
    );
    const changes = { scope: 'profile.read', optional_scope: 'posts.write' };
    await grant(app, 'money.send');
    server.advance(4 * 86_400_000);
    expect(await listed(app, changes)).toEqual([]);

    await grant(app, 'profile.read files.read posts.write');
    await grant(app, 'files.read word.of.the.host');
    await grant(app, 'posts.read', { resource });
    const { grant_id } = await grant(app, 'many.1');
    await succeed(server, 'admin.grants.revoke', { grant_id }, operator);
    const { application_id, account_id } = app;
    const code = { application_id, account_id, scope: 'many.2' };
    await succeed(server, 'admin.codes.issue', code, operator);
    await grant(await linkingApplication(server), 'many.3');
    const other = await linkingApplication(server);
    await grant({ ...app, account_id: other.account_id }, 'many.4');

    const own = ['May files.read', 'word.of.the.host'];
    expect(await listed(app, changes)).toEqual(own);
    expect(await listed(app, { ...changes, resource })).toEqual(['Read your posts']);
    expect(await listed(app, { ...changes, optional_scope: 'files.read' })).toEqual([
      'May posts.write',
      'word.of.the.host',
    ]);
  });
});
