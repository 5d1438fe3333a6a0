import { text } from 'node:stream/consumers';
import type { Reason } from '@latchkey/domain/reasons';
import { describe, expect, test } from 'vitest';
import { invoke, type Json, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { postForm } from '../http/forms.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import {
  operator,
  type ServerWithDatabase,
  startTestServer,
  type TestServer,
  useServer,
} from '../http/running-server.ts';
import { authorize, type Changes, linkingApplication, VERIFIER } from '../linking/link-flow.ts';
import { formTokenIn, visit } from '../linking/page-flow.ts';
import { LONG_HOST, serve } from '../outbound/world.ts';
import {
  approved,
  begin,
  CALLBACK,
  OF_STRANGERS,
  redeem,
  request,
  STRANGER,
  toThisMachine,
} from './document-flow.ts';
import { type PublishedDocument, publish, useWorld } from './document-server.ts';

const world = useWorld();

const { PUBLIC_URL } = OF_STRANGERS;
const WEB = 'https://elsewhere.example:8443/x?a=b';
const EDITOR = 'vscode://vscode.microsoft-authentication/';
const HOUR = 3_600_000;

/** Where each of its redirect URIs leads, in words. */
const TARGETS = {
  [WEB]: 'elsewhere.example',
  [CALLBACK]: 'the application on this device',
  'https://localhost:8443/x': 'the application on this device',
  [EDITOR]: 'vscode:',
};

const publishStranger = (members: object = {}) =>
  publish(world, { redirect_uris: Object.keys(TARGETS), ...members }, STRANGER);

/** The links of a page: where they lead, and their texts. */
const linksIn = (page: string) =>
  [...page.matchAll(/<a [^>]*href="([^"]*)"[^>]*>(.*?)<\/a>/gs)].map(
    ([, href = '', text = '']) => ({
      href: href.replaceAll('&amp;', '&'),
      text: text.replaceAll(/<[^>]*>/g, ''),
    }),
  );

const answerIn = (href: string) => Object.fromEntries(new URL(href).searchParams);

/** Fetches a page of the service, at its address. */
const get = (server: ServerWithDatabase, url: string, cookie?: string) => {
  if (!url.startsWith(PUBLIC_URL)) throw new Error(`${url} leads away.`);
  return visit(server, url.slice(PUBLIC_URL.length), { cookie });
};

/** Begins a link, and opens its page. */
async function openPage(
  server: ServerWithDatabase,
  account_id: string,
  published: PublishedDocument,
  changes: Changes = {},
) {
  const link = await begin(server, published, changes);
  const { id, redirect_to } = await succeed(
    server,
    'admin.links.identify',
    { link, account_id },
    operator,
  );
  const opened = await get(server, redirect_to);
  const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
  const url = `${PUBLIC_URL}/link/${id}`;
  const { text } = await get(server, url, cookie);
  const press = (decision: string) =>
    visit(server, url.slice(PUBLIC_URL.length), {
      cookie,
      form: { form_token: formTokenIn(text), decision },
    });
  return { link, url, cookie, press };
}

const faults: [what: string, error_code: string, reason: Reason | null, changes: Changes][] = [
  ['5: no response_type', 'parameter_invalid', null, { response_type: undefined }],
  ['5: two', 'parameter_invalid', null, { response_type: ['code', 'code'] }],
  ['5: token', 'response_type_unsupported', null, { response_type: 'token' }],
  ['6: two scopes', 'parameter_invalid', null, { scope: ['a', 'b'] }],
  ['6: response_mode', 'parameter_invalid', null, { response_mode: 'fragment' }],
  ['6: code_challenge', 'parameter_invalid', null, { code_challenge: 'short' }],
  ['6: plain', 'parameter_invalid', null, { code_challenge_method: 'plain' }],
  [
    '7: no challenge',
    'challenge_required',
    'challenge_of_public_application',
    { code_challenge: undefined, code_challenge_method: undefined },
  ],
  ['resource', 'target_unknown', 'resource_unregistered', { resource: 'https://a.example/' }],
  ['8: no scope', 'scope_unknown', 'scope_missing', { scope: undefined }],
];

/** Schemes that programs of Windows, macOS and Linux take, and section 32 lets anybody register or refuses. */
const SCHEMES = [
  'vscode vscode-insiders cursor windsurf claude zed kiro',
  'ms-word ms-excel ms-powerpoint ms-access ms-visio ms-project ms-publisher onenote ms-settings',
  'ms-windows-store ms-msdt search-ms ms-officecmd ms-appinstaller microsoft-edge bingmaps outlook',
  'msteams slack discord zoommtg skype tg whatsapp signal facetime callto spotify steam magnet',
  'jetbrains idea fleet github-mac sourcetree docker-desktop postman insomnia obsidian notion figma',
  'x-apple.systempreferences itms-services shortcuts prefs ssh rdp vnc git svn file javascript data',
].flatMap((line) => line.split(' '));

describeOnAnyStore('a redirect URI that nobody vouches for', (fresh) => {
  const server = useServer(fresh, OF_STRANGERS, toThisMachine);
  // The same service, but that its operator lists the host.
  const listed = useServer(fresh, { ...OF_STRANGERS, CLIENT_DOCUMENTS: STRANGER }, toThisMachine);

  async function prepare(on: ServerWithDatabase) {
    await succeed(
      on,
      'admin.resources.create',
      { resource: 'https://mcp.example/', name: 'Notes' },
      operator,
    ).catch(() => null);
    return (await linkingApplication(on)).account_id;
  }

  test.each(faults)('is not redirected to: %s', async (_, error_code, reason, changes) => {
    await Promise.all([prepare(server), prepare(listed)]);
    const published = await publishStranger();
    for (const [redirect_uri, target] of Object.entries(TARGETS)) {
      const asked = { ...request(published), redirect_uri, ...changes };
      const headers = { 'x-request-id': crypto.randomUUID() };
      const page = await authorize(server, asked, { headers });
      expect([page.status, page.headers.get('location')]).toEqual([400, null]);
      expect(page.text).toContain(`<dd>${error_code}</dd>`);

      const redirect = await authorize(listed, asked, { headers });
      expect(redirect.status).toBe(303);
      const href = redirect.headers.get('location') ?? '';
      expect(answerIn(href)).toMatchObject({ error_code, request_id: headers['x-request-id'] });
      expect(linksIn(page.text)).toEqual([{ href, text: `Go back to ${target}` }]);
      await server.service.audit.flush();
      expect(await refusalsOf(server.service, headers['x-request-id'])).toMatchObject([
        { operation: 'links.begin', error_code, reason },
      ]);
    }
  });

  test('says what is wrong to the developers, and the rest in the language of the person', async () => {
    await prepare(server);
    const published = await publishStranger();
    const asked = { ...request(published), redirect_uri: WEB, response_mode: 'fragment' };
    const { text } = await authorize(server, asked, { headers: { 'accept-language': 'de' } });
    expect(text).toContain('response_mode: Must be query, or left out.');
    expect(linksIn(text)[0]?.text).toBe('Zurück zu elsewhere.example');
    const device = await authorize(
      server,
      { ...asked, redirect_uri: CALLBACK },
      { headers: { 'accept-language': 'de' } },
    );
    expect(linksIn(device.text)[0]?.text).toBe('Zurück zu der Anwendung auf diesem Gerät');
  });

  test('leads no click into a program, with any scheme', async () => {
    await prepare(server);
    const published = await publishStranger();
    const taken: string[] = [];
    for (const scheme of SCHEMES) {
      const redirect_uri = `${scheme}://app.example/x`;
      published.members = { redirect_uris: [redirect_uri] };
      server.advance(HOUR);
      const asked = { ...request(published), redirect_uri };
      for (const changes of [{ response_type: 'token' }, { prompt: 'none', scope: undefined }]) {
        const { status, headers, text } = await authorize(server, { ...asked, ...changes });
        expect([scheme, status, headers.get('location')]).toEqual([scheme, 400, null]);
        if (!text.includes('client_document_invalid')) taken.push(scheme);
      }
    }
    expect(SCHEMES.length).toBeGreaterThanOrEqual(50);
    expect([...new Set(taken)]).toEqual(SCHEMES.slice(0, 7));
  });

  test('is ignored in a document, if strangers may not have it', async () => {
    await prepare(server);
    const git = 'vscode://vscode.git/clone?url=https://evil.example/';
    const published = await publishStranger({ redirect_uris: [git, WEB] });
    const asked = { ...request(published), response_type: 'token' };
    const refused = await authorize(server, { ...asked, redirect_uri: git });
    expect(refused.headers.get('location')).toBeNull();
    expect(refused.text).toContain('redirect_uri_unregistered');
    // The only one that is left.
    const { text } = await authorize(server, { ...asked, redirect_uri: undefined });
    expect(linksIn(text)[0]?.href).toMatch(/^https:\/\/elsewhere\.example:8443\/x\?a=b&error=/);
    const redirected = await authorize(listed, { ...asked, redirect_uri: git });
    expect(redirected.headers.get('location')).toContain(`${git}&error=`);
  });

  test.each(Object.entries(TARGETS))(
    'gets no browser by Deny, but a link: %s',
    async (redirect_uri, target) => {
      const account_id = await prepare(server);
      const { link, url, cookie, press } = await openPage(
        server,
        account_id,
        await publishStranger(),
        { redirect_uri },
      );
      const open = await get(server, `${url}/done`, cookie);
      expect([open.status, open.headers.get('location')]).toEqual([303, url]);
      expect((await get(server, `${url}/done`)).status).toBe(410);

      for (const _ of ['once', 'again']) {
        const { status, headers } = await press('deny');
        expect([status, headers.get('location')]).toEqual([303, `${url}/done`]);
        expect(headers.get('set-cookie')).toContain('Max-Age=300');
      }
      const own = await get(server, `${url}/done`, cookie);
      const others = await get(server, `${url}/done`);
      expect(own.text).toContain('Ada');
      expect(others.text).not.toContain('Ada');
      for (const { status, headers, text } of [own, others]) {
        expect(status).toBe(200);
        expect([headers.get('refresh'), headers.get('location')]).toEqual([null, null]);
        expect(headers.get('content-security-policy')).toContain("form-action 'self'");
        const [{ href, text: words } = { href: '' }, ...more] = linksIn(text);
        expect(more).toEqual([]);
        expect(words).toBe(`Go back to ${target}`);
        expect(href.startsWith(redirect_uri)).toBe(true);
        expect(answerIn(href)).toMatchObject({
          error: 'access_denied',
          error_code: 'access_denied',
          state: 'a state',
          request_id: headers.get('x-request-id'),
        });
      }
      const lines = server.lines.map((line): Json => JSON.parse(line));
      const { id: link_id } = await succeed(server, 'admin.links.read', { link }, operator);
      expect(lines).toContainEqual(
        expect.objectContaining({ action: 'pages.done', link_id, account_id, result: 'done' }),
      );
      // Until the link is deleted, not only while the browser has the cookie.
      server.advance(4 * HOUR - 60_000);
      expect((await get(server, `${url}/done`)).status).toBe(200);
      server.advance(60_000);
      expect((await get(server, `${url}/done`)).status).toBe(410);
    },
  );

  test('gets no browser from a host that denies, and a code once a person has allowed', async () => {
    const account_id = await prepare(server);
    const published = await publishStranger();
    const asked = { redirect_uri: WEB };
    const link = await begin(server, published, asked);
    const identified = await succeed(
      server,
      'admin.links.identify',
      { link, account_id },
      operator,
    );
    const { headers } = await get(server, identified.redirect_to);
    const { search } = new URL(headers.get('location') ?? '');
    for (const wire of ['REST', 'tRPC'] as const) {
      const { body } = await invoke(server, wire, 'admin.links.deny', { link }, operator);
      expect(body.redirect_to).toBe(`${PUBLIC_URL}/link/${body.id}/done`);
      // Also in a browser that opened the page, and keeps no cookies.
      for (const url of [body.redirect_to, body.redirect_to + search]) {
        const end = await get(server, url);
        expect([end.status, linksIn(end.text).length]).toEqual([200, 1]);
      }
    }

    const { answer, code } = await approved(
      server,
      await begin(server, published, asked),
      account_id,
    );
    expect(answer.redirect_to).toContain(`${WEB}&code=${code}`);
    const { url, cookie, press } = await openPage(server, account_id, published, asked);
    const allowed = await press('allow');
    expect(allowed.headers.get('location')).toContain(`${WEB}&code=lk_code_`);
    // With the code, for as long as it is good.
    const end = await get(server, `${url}/done?start`, cookie);
    expect([end.status, end.headers.get('refresh')]).toEqual([200, null]);
    const [back] = linksIn(end.text);
    expect(back).toEqual({
      href: allowed.headers.get('location'),
      text: 'Go back to elsewhere.example',
    });
    expect((await get(server, `${url}/done`)).status).toBe(410);
  });

  test('gets no browser by a link that has expired', async () => {
    const account_id = await prepare(server);
    const { link, url, cookie, press } = await openPage(
      server,
      account_id,
      await publishStranger(),
      { redirect_uri: WEB },
    );
    server.advance(HOUR);
    for (const name of ['admin.links.read', 'admin.links.deny', 'admin.links.approve'] as const) {
      const input = { link, ...(name === 'admin.links.approve' && { account_id }) };
      const { status, body } = await invoke(server, 'REST', name, input, operator);
      expect([status, body.error_code]).toEqual([410, 'link_expired']);
      expect(body.redirect_to).toBe(`${url}/done`);
    }
    const expired = { error: 'access_denied', error_code: 'link_expired', state: 'a state' };
    for (const page of [await get(server, url, cookie), await press('deny')]) {
      expect([page.status, page.headers.get('location')]).toEqual([410, null]);
      const [{ href, text } = { href: '' }, ...more] = linksIn(page.text);
      expect([text, more]).toEqual(['Go back to elsewhere.example', []]);
      expect(answerIn(href)).toMatchObject(expired);
    }
    for (const end of [
      await get(server, `${url}/done`),
      await get(server, `${url}/done`, cookie),
    ]) {
      expect(end.status).toBe(200);
      expect(answerIn(linksIn(end.text)[0]?.href ?? '')).toMatchObject(expired);
    }
  });

  test('is one thing, and that of a registered application another', async () => {
    const app = await linkingApplication(server, { redirect_uris: [WEB] });
    const asked = { redirect_uri: WEB };
    const faulty = await authorize(server, { ...app.request, ...asked, response_type: 'token' });
    expect([faulty.status, faulty.headers.get('location')]).toEqual([
      303,
      expect.stringContaining(`${WEB}&error=unsupported_response_type`),
    ]);
    const { link, link_id } = await app.begin(asked);
    const denied = await succeed(server, 'admin.links.deny', { link }, operator);
    expect(denied.redirect_to).toContain(`${WEB}&error=access_denied`);
    const { status, text } = await get(server, `${PUBLIC_URL}/link/${link_id}/done`);
    expect([status, text]).toEqual([410, expect.stringContaining('page_expired')]);

    const late = await app.begin(asked);
    server.advance(HOUR);
    const read = await invoke(server, 'REST', 'admin.links.read', { link: late.link }, operator);
    expect(read.body.redirect_to).toContain(`${WEB}&error=access_denied`);
  });
});

describeOnAnyStore('who vouches', (fresh) => {
  const server = useServer(fresh, OF_STRANGERS, toThisMachine);

  test('is told, by the settings of the moment', async () => {
    const { account_id } = await linkingApplication(server);
    const published = await publishStranger();
    const link = await begin(server, published);
    const told = async (on: { url: string }) => {
      const answers = await Promise.all(
        (['REST', 'tRPC'] as const).map((wire) =>
          invoke(on, wire, 'admin.links.read', { link }, operator),
        ),
      );
      return answers.map(({ body }) => [body.application.vouched, body.redirect_vouched]);
    };
    expect(await told(server)).toEqual([
      [false, false],
      [false, false],
    ]);
    const { code } = await approved(server, await begin(server, published), account_id);
    const redeemed = await postForm(server, '/oauth/token', {
      ...{ grant_type: 'authorization_code', code, client_id: published.address },
      ...{ redirect_uri: CALLBACK, code_verifier: VERIFIER },
    });
    expect(redeemed.status).toBe(200);
    const vouchedIn = async (on: { url: string }) => {
      const input = { account_id };
      const { data } = await succeed(on, 'admin.connections.list', input, operator);
      return data.map(({ application }: Json) => application.vouched);
    };

    for (const [CLIENT_DOCUMENTS, isVouched] of [
      [STRANGER, true],
      [`any,${STRANGER}`, true],
      ['*.example.net', false],
      [`${STRANGER},!*.example.net`, false],
      ['off', false],
    ] as const) {
      const settings = { ...OF_STRANGERS, CLIENT_DOCUMENTS };
      const later = await startTestServer(server.database.url, settings, toThisMachine);
      try {
        expect(await told(later)).toEqual(Array(2).fill([isVouched, isVouched]));
        expect(await vouchedIn(later)).toEqual([isVouched]);
      } finally {
        await later.close();
      }
    }
  });

  test('is asked when a link is denied, not when it was begun', async () => {
    await linkingApplication(server);
    const published = await publishStranger({ redirect_uris: [WEB] });
    const links = [
      await begin(server, published, { redirect_uri: WEB }),
      await begin(server, published, { redirect_uri: WEB }),
    ];
    const settings = { ...OF_STRANGERS, CLIENT_DOCUMENTS: STRANGER };
    const later = await startTestServer(server.database.url, settings, toThisMachine);
    const deny = async (on: { url: string }, link = '') =>
      (await succeed(on, 'admin.links.deny', { link }, operator)).redirect_to;
    expect(await deny(later, links[0])).toContain(`${WEB}&error=access_denied`);
    await later.close();
    expect(await deny(server, links[1])).toMatch(
      /^http:\/\/127\.0\.0\.1:3000\/base\/link\/.*\/done$/,
    );
  });
});

describeOnAnyStore('the name that a stranger claims', (fresh) => {
  const settings = {
    ...OF_STRANGERS,
    PAGE_NAME: 'Photos Inc.',
    EVENTS_KEY: 'events-key-of-thirty-two-characters-or-more',
  };
  const server = useServer(fresh, settings, toThisMachine);
  const TRICK = 'Claude, checked by Photos Inc. It only';

  /** What each page and each response calls the only application of an account. */
  async function namesOf(on: ServerWithDatabase | TestServer, link: string, account_id: string) {
    const page = await succeed(
      on,
      'admin.pages.create',
      { page: 'connections', account_id },
      operator,
    );
    const opened = await visit(on, page.url.slice(PUBLIC_URL.length));
    const [cookie = ''] = (opened.headers.get('set-cookie') ?? '').split(';');
    const { text } = await visit(on, '/connections', { cookie });
    const { application } = await succeed(on, 'admin.links.read', { link }, operator);
    const input = { application_id: application.id };
    const { data } = await succeed(on, 'admin.connections.list', { account_id }, operator);
    const all = await succeed(on, 'admin.applications.list', { documents: true }, operator);
    const heading = /<h2[^>]*>(.*?)<\/h2>/s.exec(text)?.[1]?.replaceAll(/<[^>]*>/g, '');
    const told = [
      application.name,
      (await succeed(on, 'admin.applications.get', input, operator)).name,
      ...all.data.map(({ name }: Json) => name),
      ...data.map((one: Json) => one.application.name),
    ];
    return { heading, names: [...new Set(told)], isOnPage: text.includes('Claude') };
  }

  test('is shown by the settings of the moment, or is nowhere', async () => {
    const { account_id } = await linkingApplication(server);
    const published = await publishStranger({ client_name: TRICK });
    const { link, url, cookie, press } = await openPage(server, account_id, published);
    const question = await get(server, url, cookie);
    expect(question.text.replaceAll(/<[^>]*>/g, '')).toContain(`\n${STRANGER} wants to connect to`);
    expect(question.text).not.toMatch(/Claude|checked|calls itself/);
    await press('allow');
    const [answer] = linksIn((await get(server, `${url}/done`, cookie)).text);
    const { code = '' } = answerIn(answer?.href ?? '');
    expect((await redeem(server, code, { client_id: published.address })).status).toBe(200);
    const dropped = { heading: STRANGER, names: [STRANGER], isOnPage: false };
    expect(await namesOf(server, link, account_id)).toEqual(dropped);

    for (const [changes, expected] of [
      [
        { CLIENT_DOCUMENTS: STRANGER },
        { heading: `${STRANGER}, which calls itself “${TRICK}”`, names: [TRICK], isOnPage: true },
      ],
      [{ PAGE_NAME: 'Pictures' }, dropped],
    ] as const) {
      const later = await startTestServer(
        server.database.url,
        { ...settings, ...changes },
        toThisMachine,
      );
      expect(await namesOf(later, link, account_id)).toEqual(expected);
      await later.close();
    }
    const { application } = await succeed(server, 'admin.links.read', { link }, operator);
    const input = { application_id: application.id };
    const heard: Json[] = [];
    const { port } = await serve(world.pem, async (request, response) => {
      heard.push(JSON.parse(await text(request)));
      response.end();
    });
    await succeed(
      server,
      'admin.endpoints.create',
      { url: `https://127.0.0.1:${port}/` },
      operator,
    );
    const disabled = await succeed(server, 'admin.applications.disable', input, operator);
    expect(disabled.name).toBe(STRANGER);
    const told = () => heard.filter(({ type }) => type === 'application.disabled');
    await expect.poll(told).toMatchObject([{ data: { name: STRANGER } }]);
  });

  test.each([
    ['Claude', 'Claude'],
    ['My photos-inc helper', STRANGER],
    ['A'.repeat(41), STRANGER],
    ['ａ “b” c', STRANGER],
  ])('%s: %s', async (client_name, name) => {
    await linkingApplication(server);
    const link = await begin(server, await publishStranger({ client_name }));
    const { application } = await succeed(server, 'admin.links.read', { link }, operator);
    expect(application.name).toBe(name);
  });
});

describe.each(['any', `${LONG_HOST.replace('claude', 'claudette')}`])(
  'with CLIENT_DOCUMENTS=%s',
  (CLIENT_DOCUMENTS) => {
    describeOnAnyStore('a host with more than 60 characters', (fresh) => {
      const server = useServer(fresh, { ...OF_STRANGERS, CLIENT_DOCUMENTS }, toThisMachine);

      test('is no address of an application, whoever vouches', async () => {
        const { request: asked } = await linkingApplication(server);
        const host = LONG_HOST.replace('claude', 'claudette');
        expect([LONG_HOST.length, host.length]).toEqual([60, 63]);
        const client_id = `https://${host}:8443/a`;
        const { status, headers, text } = await authorize(server, { ...asked, client_id });
        expect([status, text]).toEqual([400, expect.stringContaining('>client_unknown</a></dd>')]);
        await server.service.audit.flush();
        expect(await refusalsOf(server.service, headers.get('x-request-id') ?? '')).toMatchObject([
          { reason: 'client_host_too_long' },
        ]);
      });
    });
  },
);

describe('the setting CLIENT_SCHEMES', () => {
  describeOnAnyStore('with a list', (fresh) => {
    const settings = { ...OF_STRANGERS, CLIENT_SCHEMES: 'vscode?,com.example.app' };
    const server = useServer(fresh, settings, toThisMachine);

    test('says what strangers may redirect to', async () => {
      await linkingApplication(server);
      const taken = ['vscode://a.example/x?b=c', 'com.example.app:/x'];
      const refused = ['cursor://a.example/x', 'com.example.app:/x?b=c', 'vscode://file/x'];
      const published = await publishStranger({ redirect_uris: [...taken, ...refused] });
      for (const redirect_uri of taken) await begin(server, published, { redirect_uri });
      for (const redirect_uri of refused) {
        const { text } = await authorize(server, { ...request(published), redirect_uri });
        expect(text).toContain('redirect_uri_unregistered');
      }
    });
  });
});
