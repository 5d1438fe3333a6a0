import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { invoke, type Json, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { postForm } from '../http/forms.ts';
import { asBearer } from '../http/linked-application.ts';
import { operator, type ServerWithDatabase, useServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  type Changes,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  PUBLIC_URL,
  VERIFIER,
} from './link-flow.ts';
import { openConsent, visit } from './page-flow.ts';

const OWN = `${PUBLIC_URL}/v1`;

const asOperator = (server: ServerWithDatabase, name: OperationName, input: object = {}) =>
  succeed(server, name, { ...input }, operator);

const newResource = (server: ServerWithDatabase, members: object = {}): Promise<Json> =>
  asOperator(server, 'admin.resources.create', {
    resource: `https://mcp.example/${randomUUID()}`,
    name: 'Notes & more',
    ...members,
  });

async function refusal(server: ServerWithDatabase, app: LinkingApplication, changes: Changes) {
  const { headers } = await authorize(server, { ...app.request, ...changes });
  const { error, error_code } = addedTo(`${CALLBACK}&`, headers.get('location') ?? '');
  return [error, error_code];
}

const read = (server: ServerWithDatabase, link: string) =>
  asOperator(server, 'admin.links.read', { link });

const codeIn = ({ redirect_to }: Json) => new URL(redirect_to).searchParams.get('code') as string;

async function approved(server: ServerWithDatabase, app: LinkingApplication, changes: Changes) {
  const { link } = await app.begin(changes);
  const { account_id } = app;
  return codeIn(await asOperator(server, 'admin.links.approve', { link, account_id }));
}

describeOnAnyStore('without resources,', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('a resource is ignored, however often and whatever it is', async () => {
    const app = await linkingApplication(server);
    const resource = ['https://mcp.example/mcp', 'no address'];
    const { link } = await app.begin({ resource });
    expect((await read(server, link)).resource).toBeNull();
    const code = await approved(server, app, { resource: 'https://mcp.example/mcp' });
    const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER };
    const { json } = await postForm(
      server,
      '/oauth/token',
      { ...form, resource: 'https://mcp.example/mcp' },
      app.bearer,
    );
    expect(json.grant).toBeDefined();
  });
});

describeOnAnyStore('a resource', (fresh) => {
  const server = useServer(fresh, LINKING);

  test('is what the link, the code and the grant are for, from the request to the end', async () => {
    const app = await linkingApplication(server);
    const { application_id, account_id, bearer } = app;
    const { resource, name } = await newResource(server);
    const upper = resource.replace('https://mcp.example', 'HTTPS://MCP.EXAMPLE:443');
    const page = await openConsent(server, app, { resource: `${upper}/` });
    const shown = { object: 'resource', resource, name };
    expect((await read(server, page.link)).resource).toStrictEqual(shown);
    const { text } = await visit(server, page.path, { cookie: page.cookie });
    expect(text).toContain('<bdi>Notes &amp; more</bdi> at <bdi class="strong">mcp.example</bdi>');

    // Its name and its end change nothing for what was asked.
    const allowed = await visit(server, page.path, {
      cookie: page.cookie,
      form: { form_token: page.form_token, decision: 'allow' },
    });
    const { code } = addedTo(`${CALLBACK}&`, allowed.headers.get('location') ?? '');
    const { codes } = await asOperator(server, 'admin.accounts.export', { account_id });
    expect(codes).toMatchObject([{ application_id, resource }]);

    const convert = (members: object) =>
      invoke(
        server,
        'REST',
        'grants.convert',
        { code, code_verifier: VERIFIER, ...members },
        bearer,
      );
    for (const other of [OWN, `${resource}/x`, 'no address', '', `${resource}?`]) {
      const { status, body } = await convert({ resource: other });
      expect([status, body.error, body.error_code]).toEqual([
        ...[400, 'invalid_target', 'target_mismatch'],
      ]);
    }
    const none = await convert({ resource: null });
    expect([none.status, none.body.error_code]).toEqual([400, 'parameter_invalid']);
    // After the verifier, and before the replay.
    const wrong = await convert({ resource: OWN, code_verifier: 'x'.repeat(43) });
    expect(wrong.body.error_code).toBe('code_verifier_mismatch');
    const { body: grant } = await convert({ resource: `${upper}/` });
    expect((await convert({ resource: OWN })).body.error_code).toBe('target_mismatch');
    expect((await convert({ resource })).body.error_code).toBe('code_already_used');

    const as = asBearer(grant);
    expect((await succeed(server, 'account.grant', {}, as)).resource).toBe(resource);
    const token = grant.grant_secret;
    const introspected = await succeed(server, 'grants.introspect', { token }, bearer);
    expect(introspected.aud).toBe(resource);
    const { data } = await asOperator(server, 'admin.grants.list', { account_id });
    expect(data).toMatchObject([{ resource }]);
  });

  test('may be left out when its code is redeemed, as ChatGPT does', async () => {
    const app = await linkingApplication(server);
    const { resource } = await newResource(server);
    const code = await approved(server, app, { resource });
    const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER };
    const { json } = await postForm(server, '/oauth/token', form, app.bearer);
    const as = asBearer(json.grant);
    expect((await succeed(server, 'account.grant', {}, as)).resource).toBe(resource);
  });

  test('is not asked for with the address of the service, which is no resource', async () => {
    const app = await linkingApplication(server);
    await newResource(server);
    const { bearer } = app;
    const code = await approved(server, app, { resource: `${OWN}/` });
    const form = { grant_type: 'authorization_code', code, code_verifier: VERIFIER };
    const repeated = [...Object.entries(form), ['resource', OWN], ['resource', OWN]];
    const twice = await postForm(server, '/oauth/token', repeated as [string, string][], bearer);
    expect(twice.json.issues).toMatchObject([{ path: ['resource'] }]);
    const { json } = await postForm(server, '/oauth/token', { ...form, resource: OWN }, bearer);
    const as = asBearer(json.grant);
    expect((await succeed(server, 'account.grant', {}, as)).resource).toBeNull();
    expect(await succeed(server, 'account.get', {}, as)).toMatchObject({ id: app.account_id });
  });

  test('has to be registered, named once, and comes between the challenge and the scope', async () => {
    const app = await linkingApplication(server);
    const { resource } = await newResource(server);
    const unknown = ['invalid_target', 'target_unknown'];
    const scope = 'nobody.knows';
    for (const asked of [`${resource}/x`, 'x', [resource, resource], [OWN, OWN]]) {
      expect(await refusal(server, app, { resource: asked, scope })).toEqual(unknown);
    }
    const native = await linkingApplication(server, { public: true });
    const unchallenged = { code_challenge: undefined, code_challenge_method: undefined };
    const without = await refusal(server, native, { resource: 'x', ...unchallenged });
    expect(without[1]).toBe('challenge_required');
    const { resource: _, ...none } = await read(server, (await app.begin({ resource: '' })).link);
    expect(_).toBeNull();
    expect(none.status).toBe('open');
  });

  test('forgives a scope, and bounds it', async () => {
    const bounded = await newResource(server, {
      ...{ scopes: ['posts.read', 'nobody.knows'], default_scopes: ['nobody.knows', 'posts.read'] },
    });
    const open = await newResource(server);
    const app = await linkingApplication(server, { default_scopes: ['profile.read'] });
    const asked = async ({ resource }: Json, scope: string | undefined) =>
      (await read(server, (await app.begin({ resource, scope })).link)).scope;
    expect(await asked(bounded, ' posts.read   offline_access profile.read ')).toBe('posts.read');
    expect(await asked(bounded, 'offline_access profile.read')).toBe('posts.read');
    expect(await asked(bounded, undefined)).toBe('posts.read');
    expect(await asked(open, 'offline_access')).toBe('profile.read');
    expect(await asked(open, 'posts.read profile.read')).toBe('posts.read profile.read');

    // Of a resource without a default, what is not sensitive: as the guide sets it up.
    const put = { scope: 'money.send', title: 'Send money', sensitive: true };
    await asOperator(server, 'admin.scopes.put', put);
    const scopes = ['money.send', 'posts.read', 'nobody.knows', 'profile.read'];
    const guided = await newResource(server, { scopes });
    const plain = await linkingApplication(server);
    const askedBy = async (scope: string | undefined) =>
      (await read(server, (await plain.begin({ resource: guided.resource, scope })).link)).scope;
    for (const scope of [undefined, ' offline_access', 'openid email profile']) {
      expect(await askedBy(scope)).toBe('posts.read profile.read');
    }
    expect(await askedBy('money.send')).toBe('money.send');
    // The default of the application comes before that.
    expect(await asked(guided, undefined)).toBe('profile.read');

    const none = ['invalid_scope', 'scope_unknown'];
    const sensitive = await newResource(server, { scopes: ['money.send'] });
    expect(await refusal(server, plain, { resource: sensitive.resource, scope: '' })).toEqual(none);
    expect(await refusal(server, plain, { resource: open.resource, scope: '' })).toEqual(none);
    const strict = await linkingApplication(server, { scopes: ['profile.read'] });
    const { resource } = bounded;
    expect(await refusal(server, strict, { resource, scope: 'posts.read' })).toEqual(none);
    expect(await refusal(server, app, { resource, scope: 'posts.read posts.read' })).toEqual(none);
    // Without a resource it is as strict as before.
    expect(await refusal(server, app, { scope: 'posts.read  profile.read' })).toEqual(none);
    expect(await refusal(server, app, { scope: 'posts.read offline_access' })).toEqual(none);
  });

  test.each([
    ['a scope is taken away', { scopes: ['posts.read'] }],
    ['a list takes the place of null', { scopes: ['posts.read', 'profile.read'] }],
    ['it is deleted', null],
  ])('ends the undecided links for it where %s, for good', async (_, changes) => {
    const app = await linkingApplication(server);
    const scopes = changes?.scopes.length === 1 ? ['posts.read', 'profile.read'] : null;
    const { id: resource_id, ...created } = await newResource(server, { scopes });
    const { resource, name } = created;
    const [{ link }, other] = [await app.begin({ resource }), await app.begin()];
    const decided = await app.begin({ resource });
    const { account_id } = app;
    const approval = { link: decided.link, account_id };
    const before = await asOperator(server, 'admin.links.approve', approval);
    const page = await openConsent(server, app, { resource });
    if (changes === null) {
      await asOperator(server, 'admin.resources.delete', { resource_id });
      await asOperator(server, 'admin.resources.create', { resource, name });
    } else {
      await asOperator(server, 'admin.resources.update', { resource_id, name: 'New' });
      expect((await read(server, link)).status).toBe('open');
      await asOperator(server, 'admin.resources.update', { resource_id, ...changes });
      await asOperator(server, 'admin.resources.update', { resource_id, scopes });
    }
    for (const name of ['admin.links.read', 'admin.links.approve', 'admin.links.deny'] as const) {
      const input = { link, ...(name === 'admin.links.approve' && { account_id }) };
      const { body } = await invoke(server, 'REST', name, input, operator);
      expect(body.error_code).toBe('link_not_found');
    }
    expect((await visit(server, page.path, page)).status).toBe(410);
    expect((await read(server, other.link)).status).toBe('open');
    // What was decided is as it was, and its code works. The name is that of now.
    const again = await asOperator(server, 'admin.links.approve', approval);
    const shown = { object: 'resource', resource, name: changes === null ? resource : 'New' };
    expect(again).toEqual({ ...before, resource: shown });
    const code = codeIn(before);
    const grant = await succeed(
      server,
      'grants.convert',
      { code, code_verifier: VERIFIER, resource },
      app.bearer,
    );
    expect((await succeed(server, 'account.grant', {}, asBearer(grant))).resource).toBe(resource);
  });

  test.each(wires)('may be that of an issued code, over %s', async (wire) => {
    const { application_id, account_id, bearer } = await linkingApplication(server);
    const { resource } = await newResource(server);
    const issued = { application_id, account_id, scope: 'whatever' };
    const issue = async (named: string) =>
      (await invoke(server, wire, 'admin.codes.issue', { ...issued, resource: named }, operator))
        .body;
    const { code, ...first } = await issue(`${resource}/`);
    expect(first.resource).toBe(resource);
    const { grant_id } = await issue(resource);
    const cancelled = await asOperator(server, 'admin.codes.cancel', { grant_id });
    expect(cancelled.resource).toBe(resource);
    expect((await issue(OWN)).resource).toBeNull();
    expect((await issue(`${resource}/x`)).error_code).toBe('target_unknown');

    // A refused request is no use: the grant can still be recovered.
    const grant = await succeed(server, 'grants.convert', { code }, bearer);
    const refused = await invoke(server, wire, 'account.get', {}, asBearer(grant));
    expect([refused.status, refused.body.error, refused.body.error_code]).toEqual([
      ...[403, 'insufficient_scope', 'resource_mismatch'],
    ]);
    const { grant_id: id } = first;
    const again = await succeed(server, 'grants.recover', { grant_id: id }, bearer);
    expect((await succeed(server, 'account.grant', {}, asBearer(again))).resource).toBe(resource);
  });

  test('has grants_per_account of its own', async () => {
    const app = await linkingApplication(server, { grants_per_account: 1 });
    const { application_id, account_id, bearer } = app;
    const [one, other] = [await newResource(server), await newResource(server)];
    const link = async (resource?: string) => {
      server.advance(1);
      const scope = 'profile.read';
      const issued = { application_id, account_id, scope, ...(resource && { resource }) };
      const { code } = await asOperator(server, 'admin.codes.issue', issued);
      return (await succeed(server, 'grants.convert', { code }, bearer)).grant_id;
    };
    await link();
    await link(one.resource);
    const [plain, ofOther] = [await link(), await link(other.resource)];
    const ofOne = await link(one.resource);
    const { data } = await asOperator(server, 'admin.grants.list', { account_id });
    const live = data.filter(({ revoked }: Json) => !revoked).map(({ grant_id }: Json) => grant_id);
    expect(live.sort()).toEqual([plain, ofOther, ofOne].sort());
  });
});
