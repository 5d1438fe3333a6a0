import type { OperationName } from '@latchkey/schema';
import { describe, expect, test } from 'vitest';
import { invoke, type Json, send, succeed, wires } from '../http/call.ts';
import { describeOnAnyStore, describeOnEachStore } from '../http/databases.ts';
import { EVENTS, operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  VERIFIER,
} from './link-flow.ts';
import { type OpenPage, open, visit } from './page-flow.ts';

const ACME = { id: 'ws-7', label: 'Acme “Inc.” & <Sons>' };
const OTHER = { id: '"\'<b>&amp;\\', label: 'Zoë’s notes' };
const QUESTION = { title: 'Which workspace?', options: [ACME, OTHER] };

const escaped = (text: string) =>
  text.replace(
    /[&<>"]/g,
    (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c] ?? c,
  );

type Server = { url: string };

const identify = (server: Server, link: string, account_id: string, more: object = {}) =>
  invoke(server, 'REST', 'admin.links.identify', { link, account_id, ...more }, operator);

/** Opens the consent page of a new link. */
async function asked(server: Server, app: LinkingApplication, choice: object | null = QUESTION) {
  const { link, link_id } = await app.begin();
  const { status, body, text } = await identify(server, link, app.account_id, { choice });
  expect([status, body.choice]).toEqual([200, null]);
  if (status !== 200) throw new Error(text);
  return { ...(await open(server, body.redirect_to)), link, link_id };
}

function answer(server: Server, page: OpenPage, decision: string, ...choices: string[]) {
  const { path, cookie, form_token } = page;
  const form: [string, string][] = [
    ['form_token', form_token],
    ...choices.map((id): [string, string] => ['choice', id]),
    ['decision', decision],
  ];
  return visit(server, path, { cookie, form });
}

async function convert(server: Server, { bearer }: LinkingApplication, location: string | null) {
  const { code } = addedTo(`${CALLBACK}&`, location ?? '');
  const input = { code, redirect_uri: CALLBACK, code_verifier: VERIFIER };
  return succeed(server, 'grants.convert', input, bearer);
}

/** What is shown of a grant, wherever its choice is. */
async function shownChoices(server: Server, app: LinkingApplication, grant: Json) {
  const { account_id, application_id } = app;
  const of = (name: OperationName, input: object, as = operator) =>
    succeed(server, name, input as Record<string, unknown>, as);
  const own = ({ grant_id }: Json) => grant_id === grant.grant_id;
  const connections = await of('admin.connections.list', { account_id });
  const connected = connections.data.find((each: Json) => each.application.id === application_id);
  return [
    (await of('account.grant', {}, `Bearer ${grant.grant_secret}`)).choice,
    (await of('grants.introspect', { token: grant.grant_secret }, app.bearer)).choice,
    (await of('admin.grants.list', { account_id })).data.find(own).choice,
    (await of('admin.grants.list', { application_id })).data.find(own).choice,
    (await of('admin.accounts.export', { account_id })).grants.find(own).choice,
    connected.grants.find(own).choice,
  ];
}
const EVERYWHERE = 6;

describeOnEachStore('what a user chooses on the page', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS });

  test('is what the page offers, and stays with the grant', async () => {
    const app = await linkingApplication(server);
    const page = await asked(server, app);
    const { text } = await visit(server, page.path, page);
    expect([...text.matchAll(/<input type="radio" ([^>]*)>/g)].map(([, rest]) => rest)).toEqual(
      [ACME, OTHER].map(({ id }) => `name="choice" value="${escaped(id)}" required`),
    );

    const { status, headers } = await answer(server, page, 'allow', OTHER.id);
    const location = headers.get('location');
    expect(status).toBe(303);
    // The same decision again, and another one.
    const again = await answer(server, page, 'allow', OTHER.id);
    expect(again.headers.get('location')).toBe(location);
    const changed = await answer(server, page, 'allow', ACME.id);
    expect([changed.status, changed.text.includes('link_decided')]).toEqual([409, true]);

    const exported = await succeed(
      server,
      'admin.accounts.export',
      { account_id: app.account_id },
      operator,
    );
    expect(exported.codes.map(({ choice }: Json) => choice)).toEqual([OTHER]);
    const read = await succeed(server, 'admin.links.read', { link: page.link }, operator);
    expect(read).toMatchObject({ status: 'approved', choice: OTHER });
    const grant = await convert(server, app, location);
    expect(grant).not.toHaveProperty('choice');
    expect(await shownChoices(server, app, grant)).toEqual(Array(EVERYWHERE).fill(OTHER));
  });

  test('is asked again where it is missing, twice or another; Deny and another account need none', async () => {
    const app = await linkingApplication(server);
    const page = await asked(server, app);
    for (const choices of [[], [''], ['ws-8'], ['WS-7'], ['ws-7', 'ws-7']]) {
      const { status, text } = await answer(server, page, 'allow', ...choices);
      expect([status, text.includes('<dd>parameter_invalid</dd>')]).toEqual([400, true]);
      expect(text).toContain(`href="/base${page.path}">Open the page again</a>`);
    }
    const { text } = await visit(server, page.path, page);
    const free = [...text.matchAll(/value="(\w+)" formnovalidate/g)].map(([, name]) => name);
    expect(free).toEqual(['switch', 'deny']);
    expect((await answer(server, page, 'switch', 'ws-8', 'ws-8')).status).toBe(303);
    expect((await answer(server, page, 'deny', 'ws-8', 'ws-8')).status).toBe(303);
    const plain = await asked(server, app, null);
    expect((await answer(server, plain, 'allow', 'ws-7')).status).toBe(400);
    expect((await answer(server, plain, 'allow')).status).toBe(303);
  });

  test('belongs to the latest page: what was offered before decides nothing', async () => {
    const app = await linkingApplication(server);
    const { link } = await app.begin();
    const pages = [];
    for (const choice of [QUESTION, { title: 'Which team?', options: [{ id: 't-1' }] }]) {
      const { body } = await identify(server, link, app.account_id, { choice });
      pages.push(await open(server, body.redirect_to));
    }
    const [first, second] = pages as [OpenPage, OpenPage];
    expect((await answer(server, first, 'allow', ACME.id)).status).toBe(410);
    expect((await answer(server, second, 'allow', ACME.id)).status).toBe(400);
    const { body } = await identify(server, link, app.account_id);
    expect((await answer(server, second, 'allow', 't-1')).status).toBe(410);
    const third = await open(server, body.redirect_to);
    const { headers } = await answer(server, third, 'allow');
    const grant = await convert(server, app, headers.get('location'));
    expect(await shownChoices(server, app, grant)).toEqual(Array(EVERYWHERE).fill(null));
  });

  test('is gone with the account, also from the disk', async () => {
    const app = await linkingApplication(server);
    const { account_id } = app;
    const label = 'The secret plans of Ada';
    const choice = { title: label, options: [{ id: 'ws-7', label }] };
    const undecided = await asked(server, app, choice);
    const page = await asked(server, app, choice);
    const { headers } = await answer(server, page, 'allow', 'ws-7');
    const grant = await convert(server, app, headers.get('location'));
    const code = { application_id: app.application_id, account_id, scope: 'profile.read' };
    await succeed(server, 'admin.codes.issue', { ...code, choice: { id: 'a', label } }, operator);
    const isKept = async () => (await server.database.bytes()).includes(label);
    expect(await isKept()).toBe(true);

    await succeed(server, 'admin.accounts.erase', { account_id }, operator);
    expect(await isKept()).toBe(false);
    const { data } = await succeed(server, 'admin.grants.list', { account_id }, operator);
    expect(data).toMatchObject([{ grant_id: grant.grant_id, revoked: true, choice: null }]);
    expect((await visit(server, undecided.path, undecided)).status).toBe(410);
  });

  test('is in one connection with the others of its application', async () => {
    const app = await linkingApplication(server);
    const { account_id, application_id } = app;
    for (const id of [OTHER.id, ACME.id, OTHER.id]) {
      const { headers } = await answer(server, await asked(server, app), 'allow', id);
      await convert(server, app, headers.get('location'));
    }
    const plain = await answer(server, await asked(server, app, null), 'allow');
    await convert(server, app, plain.headers.get('location'));
    const { data } = await succeed(server, 'admin.connections.list', { account_id }, operator);
    expect(data).toMatchObject([{ choices: [ACME, OTHER] }]);
    const ids = data[0].grants.map(({ choice }: Json) => choice?.id ?? '');
    expect(ids.sort()).toEqual(['', OTHER.id, OTHER.id, ACME.id]);
    const { url } = await succeed(
      server,
      'admin.pages.create',
      { page: 'connections', account_id },
      operator,
    );
    const list = await open(server, url);
    const labels = [ACME, OTHER].map(({ label }) => `<bdi>${escaped(label)}</bdi>`).join(', ');
    expect((await visit(server, list.path, list)).text).toContain(`You chose: ${labels}</p>`);
    const connection = { account_id, application_id };
    const ended = await succeed(server, 'admin.connections.revoke', connection, operator);
    expect(ended.data).toHaveLength(4);

    // A user who names what there is to choose can make any number of names.
    for (let nth = 0; nth < 25; nth++) {
      const choice = { id: 'ws', label: `named ${String(nth).padStart(2, '0')}` };
      const code = { account_id, application_id, scope: 'profile.read', choice };
      const issued = await succeed(server, 'admin.codes.issue', code, operator);
      await succeed(server, 'grants.convert', { code: issued.code }, app.bearer);
    }
    const { text } = await visit(server, list.path, list);
    expect(text).toContain('<bdi>named 19</bdi>, …</p>');
    expect(text).not.toContain('named 20');
  });
});

describeOnAnyStore('what a host says that its user chose', (fresh) => {
  const server = useServer(fresh, LINKING);

  describe.each(wires)('over %s', (wire) => {
    const call = (name: OperationName, input: Record<string, unknown>) =>
      invoke(server, wire, name, input, operator);

    test.each([
      [ACME, ACME],
      [{ id: '!' }, { id: '!', label: '!' }],
      [
        { id: 'ws', label: '' },
        { id: 'ws', label: 'ws' },
      ],
      // As a display name: direction marks and line breaks are taken out.
      [
        { id: 'ws', label: '\u202eA\u0000c\nme\u2066' },
        { id: 'ws', label: 'Acme' },
      ],
      [
        { id: 'ws', label: '\u200b \u2066' },
        { id: 'ws', label: 'ws' },
      ],
      [null, null],
      [undefined, null],
    ])('is %j taken as %j', async (choice, taken) => {
      const app = await linkingApplication(server);
      const { account_id, application_id } = app;
      const code = { application_id, account_id, scope: 'profile.read', choice };
      const issued = await call('admin.codes.issue', code);
      expect([issued.status, issued.body.choice]).toEqual([200, taken]);
      const { grant_id } = issued.body;
      expect((await call('admin.codes.cancel', { grant_id })).body.choice).toEqual(taken);

      const { link } = await app.begin();
      const approved = await call('admin.links.approve', { link, account_id, choice });
      expect([approved.status, approved.body.choice]).toEqual([200, taken]);
      // The same again, in the form that it was taken in; another choice is another decision.
      const again = await call('admin.links.approve', { link, account_id, choice: taken });
      expect(again.body.redirect_to).toBe(approved.body.redirect_to);
      for (const other of [{ id: 'ws', label: 'Other' }, { id: 'other' }, taken && null]) {
        if (other === taken) continue;
        const changed = await call('admin.links.approve', { link, account_id, choice: other });
        expect([changed.status, changed.body.error_code]).toEqual([409, 'link_decided']);
      }
      expect((await call('admin.links.read', { link })).body.choice).toEqual(taken);
    });

    test('is none of a denial', async () => {
      const { begin } = await linkingApplication(server);
      const { link } = await begin();
      expect((await call('admin.links.deny', { link })).body.choice).toBeNull();
    });

    const options = (count: number, make = (i: number): object => ({ id: `ws-${i}` })) =>
      Array.from({ length: count }, (_, i) => make(i));
    const title = 'Which?';
    test.each([
      ['title', { title: '\u200b', options: options(1) }],
      ['title', { title: 'x'.repeat(101), options: options(1) }],
      ['title', { options: options(1) }],
      ['options', { title, options: [] }],
      ['options', { title, options: options(101) }],
      ['options', { title, options: options(2, () => ({ id: 'same' })) }],
      ['options.0.id', { title, options: [{ id: '' }] }],
      ['options.0.id', { title, options: [{ id: 'a b' }] }],
      ['options.0.id', { title, options: [{ id: 'ä' }] }],
      ['options.0.id', { title, options: [{ id: 'x'.repeat(129) }] }],
      ['options.0.label', { title, options: [{ id: 'a', label: '😀'.repeat(101) }] }],
      ['options.0.label', { title, options: [{ id: 'a', label: null }] }],
      ['options.0.lable', { title, options: [{ id: 'a', lable: 'A' }] }],
      // One letter of it becomes three of NFC.
      ['', { title, options: options(100, (i) => ({ id: `${i}`, label: '\ufb2c'.repeat(33) })) }],
    ])('is not asked for with a wrong %s', async (place, choice) => {
      const { begin, account_id } = await linkingApplication(server);
      const { link } = await begin();
      const { status, body } = await call('admin.links.identify', { link, account_id, choice });
      expect([status, body.error_code]).toEqual([400, 'parameter_invalid']);
      expect(body.issues[0].path.join('.')).toBe(['choice', place].filter(Boolean).join('.'));
    });

    test('is asked for by no page of ours with a page of the host', async () => {
      const { begin, account_id } = await linkingApplication(server);
      const { link } = await begin();
      const own = { link, account_id, own_page: true };
      const refused = await call('admin.links.identify', { ...own, choice: QUESTION });
      expect(refused.body).toMatchObject({
        error_code: 'parameter_invalid',
        issues: [{ path: ['choice'] }],
      });
      expect((await call('admin.links.identify', { ...own, choice: null })).status).toBe(200);
    });
  });

  test('is at most what a body can be', async () => {
    const { begin, account_id } = await linkingApplication(server);
    const { link } = await begin();
    const options = Array.from({ length: 100 }, (_, i) => ({
      ...{ id: `${i}`, label: '𝒲'.repeat(100) },
    }));
    const { status, body } = await identify(server, link, account_id, {
      choice: { title: 'Which?', options },
    });
    expect([status, body.error_code]).toEqual([413, 'body_too_large']);
    const most = {
      title: 'Which?',
      options: options.map(({ id }) => ({ id: id.padEnd(128, '.') })),
    };
    const page = await identify(server, link, account_id, { choice: most });
    expect(page.status).toBe(200);
    const opened = await open(server, page.body.redirect_to);
    const { text } = await visit(server, opened.path, opened);
    expect(text.match(/<option value="[^"]{128}" dir="auto">[^<]{128}<\/option>/g)).toHaveLength(
      100,
    );
    expect(text).toContain(
      '<select id="choice" name="choice" required>\n<option value=""></option>',
    );
  });

  test('is no part of what the token endpoint returns', async () => {
    const app = await linkingApplication(server);
    const { link } = await app.begin();
    const input = { link, account_id: app.account_id, choice: ACME };
    const { redirect_to } = await succeed(server, 'admin.links.approve', input, operator);
    const { code } = addedTo(`${CALLBACK}&`, redirect_to);
    const { status, text } = await send(server, {
      ...{ method: 'POST', path: '/oauth/token', authorization: app.bearer },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${new URLSearchParams({
        ...{ grant_type: 'authorization_code', code, redirect_uri: CALLBACK },
        code_verifier: VERIFIER,
      })}`,
    });
    expect([status, text.includes('choice')]).toEqual([200, false]);
  });
});
