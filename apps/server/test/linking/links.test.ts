import { randomUUID } from 'node:crypto';
import { formatCredential, operations, uuidV7Time } from '@latchkey/schema';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { type HttpResponse, invoke, type Json, succeed, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { ADA } from '../http/linked-application.ts';
import { refusalsOf } from '../http/refusals-of.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  CALLBACK,
  LINKING,
  type LinkingApplication,
  linkingApplication,
  PUBLIC_URL,
  VERIFIER,
} from './link-flow.ts';
import { formTokenIn, openConnections, openConsent, visit } from './page-flow.ts';

type Step = 'read' | 'identify' | 'approve' | 'deny';

const HOUR = 3_600_000;

describeOnEachStore('the host’s part of a link', (fresh) => {
  const server = useServer(fresh, LINKING);

  /** Sends of the input what the step takes. */
  const step = (name: Step, input: object): Promise<HttpResponse & { body: Json }> => {
    const { shape } = operations[`admin.links.${name}`].input;
    const taken = Object.entries(input).filter(([member]) => Object.hasOwn(shape, member));
    return invoke(server, 'REST', `admin.links.${name}`, Object.fromEntries(taken), operator);
  };

  /** The parameters that the application gets. */
  const told = ({ body }: { body: Json }) => addedTo(`${CALLBACK}&`, body.redirect_to);

  async function expectRefused(
    response: HttpResponse & { body: Json },
    [status, error_code, reason]: readonly [number, string, string | null],
  ): Promise<Json> {
    expect([response.status, response.body.error_code]).toEqual([status, error_code]);
    await server.service.audit.flush();
    const [refusal] = await refusalsOf(server.service, response.body.request_id);
    expect(refusal).toMatchObject({ error_code, reason, by: 'operator' });
    return response.body;
  }

  async function anotherAccount(): Promise<string> {
    const account_id = randomUUID();
    await succeed(server, 'admin.accounts.put', { account_id, ...ADA }, operator);
    return account_id;
  }

  const convert = ({ bearer }: LinkingApplication, code: string) =>
    succeed(
      server,
      'grants.convert',
      { code, redirect_uri: CALLBACK, code_verifier: VERIFIER },
      bearer,
    );

  test.each(wires)('is read as the application asked, over %s', async (wire) => {
    const app = await linkingApplication(server, {
      logo_uri: 'https://app.example/logo.png',
      homepage_uri: 'https://app.example/',
      policy_uri: 'https://app.example/privacy',
      tos_uri: 'https://app.example/terms',
    });
    const posts = {
      ...{ object: 'scope', scope: 'posts.read', title: 'Read your posts', description: null },
      ...{ texts: { de: { title: 'Ihre Beiträge lesen' } }, sensitive: false },
    };
    const { link, link_id } = await app.begin({
      ...{ scope: 'profile.read', optional_scope: 'posts.read' },
      ...{ login_hint: 'ada', ui_locales: 'de' },
    });
    const { status, body } = await invoke(server, wire, 'admin.links.read', { link }, operator);
    expect(status).toBe(200);
    const created_at = uuidV7Time(link_id) as number;
    const timestamp = (at: number) => new Date(at).toISOString().replace('Z', '+00:00');
    expect(body).toEqual({
      object: 'link_request',
      id: link_id,
      status: 'open',
      application: {
        object: 'application_profile',
        document_uri: null,
        id: app.application_id,
        name: 'Acme',
        logo_uri: 'https://app.example/logo.png',
        homepage_uri: 'https://app.example/',
        policy_uri: 'https://app.example/privacy',
        tos_uri: 'https://app.example/terms',
        vouched: true,
        public: false,
      },
      resource: null,
      scope: 'profile.read',
      scopes: [
        {
          object: 'scope',
          scope: 'profile.read',
          title: 'Read your profile',
          description: 'Your name and your picture.',
          texts: {},
          sensitive: false,
        },
      ],
      optional_scope: 'posts.read',
      optional_scopes: [posts],
      choice: null,
      redirect_host: 'app.example',
      redirect_kind: 'web',
      redirect_vouched: true,
      account_id: null,
      login_hint: 'ada',
      ui_locales: 'de',
      created_at: timestamp(created_at),
      expires_at: timestamp(created_at + HOUR),
      grant_id: null,
    });
  });

  test('leads to a consent page for the account that has signed in, each time to a new one', async () => {
    const app = await linkingApplication(server);
    const { link, link_id } = await app.begin();
    const { account_id } = app;
    const first = await step('identify', { link, account_id, locale: 'de-AT' });
    const other = await anotherAccount();
    const second = await step('identify', { link, account_id: other });
    for (const [{ body }, account] of [
      [first, account_id],
      [second, other],
    ] as const) {
      expect(body).toMatchObject({ status: 'identified', account_id: account, grant_id: null });
      const page = new URL(body.redirect_to);
      expect(`${page.origin}${page.pathname}`).toBe(`${PUBLIC_URL}/link/${link_id}`);
      expect(page.searchParams.get('ticket')).toMatch(/^lk_ticket_[0-9A-Za-z]{71}$/);
    }
    expect(first.body.redirect_to).not.toBe(second.body.redirect_to);
    const read = await step('read', { link });
    expect(read.body).toMatchObject({ status: 'identified', account_id: other });
  });

  test('an approval leads to the application with a code that its verifier converts', async () => {
    const app = await linkingApplication(server);
    const { account_id, request } = app;
    const { link } = await app.begin();
    const { status, body } = await step('approve', { link, account_id });
    expect([status, body.status, body.account_id]).toEqual([200, 'approved', account_id]);
    const { code, ...rest } = told({ body });
    expect(rest).toEqual({ state: request.state, iss: PUBLIC_URL });
    const grant = await convert(app, code);
    expect(grant).toMatchObject({ grant_id: body.grant_id, scope: request.scope });
    expect(grant.account.id).toBe(account_id);
  });

  test('an approval of a part grants that part, in the order in which it was asked for', async () => {
    const app = await linkingApplication(server);
    const { account_id } = app;
    const part = await app.begin();
    const approved = await step('approve', { ...part, account_id, scope: 'posts.read' });
    expect(approved.body.scope).toBe('profile.read posts.read');
    expect((await convert(app, told(approved).code)).scope).toBe('posts.read');

    const all = await app.begin();
    const scope = 'posts.read profile.read';
    const reversed = await step('approve', { ...all, account_id, scope });
    expect(told(await step('approve', { ...all, account_id }))).toEqual(told(reversed));

    const more = await app.begin();
    await expectRefused(await step('approve', { ...more, account_id, scope: 'admin' }), [
      400,
      'scope_unknown',
      'scope_not_asked_for',
    ]);
    expect((await step('read', more)).body.status).toBe('open');
  });

  test('a denial tells the application, each time it is sent', async () => {
    const app = await linkingApplication(server);
    const { link } = await app.begin();
    for (let sent = 0; sent < 2; sent++) {
      const response = await step('deny', { link });
      expect([response.status, response.body.status]).toEqual([200, 'denied']);
      expect(told(response)).toEqual({
        error: 'access_denied',
        error_description: expect.any(String),
        error_code: 'access_denied',
        error_uri: `${PUBLIC_URL}/docs/errors#access_denied`,
        request_id: response.headers.get('x-request-id'),
        state: app.request.state,
        iss: PUBLIC_URL,
      });
    }
  });

  describe('a decision', () => {
    test('has the same response again, code included, while the code can be converted', async () => {
      const app = await linkingApplication(server);
      const approval = { ...(await app.begin()), account_id: app.account_id };
      const first = await step('approve', approval);
      server.advance(299_999);
      const again = await step('approve', approval);
      expect(again.body).toEqual(first.body);
      server.advance(1);
      const body = await expectRefused(await step('approve', approval), [
        409,
        'link_decided',
        null,
      ]);
      expect(body.status).toBe('approved');
    });

    test('is told no more once its code is converted or cancelled', async () => {
      const app = await linkingApplication(server);
      const end: ((body: Json) => Promise<unknown>)[] = [
        (body) => convert(app, told({ body }).code),
        ({ grant_id }) => succeed(server, 'admin.codes.cancel', { grant_id }, operator),
      ];
      for (const finish of end) {
        const approval = { ...(await app.begin()), account_id: app.account_id };
        await finish((await step('approve', approval)).body);
        await expectRefused(await step('approve', approval), [409, 'link_decided', null]);
      }
    });

    test('is final: any other is refused, and reading goes on', async () => {
      const app = await linkingApplication(server);
      const { account_id } = app;
      const approved = await app.begin();
      const denied = await app.begin();
      await step('approve', { ...approved, account_id });
      await step('deny', denied);
      const other = await anotherAccount();
      const refused: [Step, object, string][] = [
        ['deny', approved, 'approved'],
        ['identify', { ...approved, account_id }, 'approved'],
        ['approve', { ...approved, account_id: other }, 'approved'],
        ['approve', { ...approved, account_id, scope: 'posts.read' }, 'approved'],
        ['approve', { ...denied, account_id }, 'denied'],
        ['identify', { ...denied, account_id }, 'denied'],
      ];
      for (const [name, input, status] of refused) {
        const body = await expectRefused(await step(name, input), [409, 'link_decided', null]);
        expect(body.status).toBe(status);
      }
      server.advance(2 * HOUR);
      expect((await step('read', approved)).body.status).toBe('approved');
      expect((await step('read', denied)).body.status).toBe('denied');
    });

    test('of the host is another one than that of the page, even if it is the same', async () => {
      const app = await linkingApplication(server);
      for (const decision of ['approve', 'deny'] as const) {
        const { link, path, cookie, form_token } = await openConsent(server, app);
        const onPage = () => {
          const form = { form_token, decision: decision === 'approve' ? 'allow' : 'deny' };
          return visit(server, path, { cookie, form });
        };
        const byHost = () =>
          step(decision, { link, ...(decision === 'approve' && { account_id: app.account_id }) });
        const steps = decision === 'approve' ? [onPage, byHost] : [byHost, onPage];
        const [first, second] = [await steps[0]?.(), await steps[1]?.()];
        expect([first?.status, second?.status]).toEqual([decision === 'approve' ? 303 : 200, 409]);
        expect((await steps[0]?.())?.status).toBe(first?.status);
      }
    });

    test('is made once by many at once, and all who decide the same hear the same', async () => {
      const app = await linkingApplication(server);
      const other = await anotherAccount();
      const { link } = await app.begin();
      const attempts = Array.from({ length: 24 }, (_, i) =>
        i % 3 === 2
          ? step('deny', { link })
          : step('approve', { link, account_id: i % 3 === 0 ? app.account_id : other }),
      );
      const responses = await Promise.all(attempts);
      const done = responses.filter(({ status }) => status === 200);
      const answers = new Set(
        done.map(({ body }) => JSON.stringify([body.status, body.account_id, body.grant_id])),
      );
      expect(answers.size).toBe(1);
      expect(done).toHaveLength(8);
      const codes = new Set(done.map((response) => told(response).code));
      expect(codes.size).toBe(1);
      for (const { status, body } of responses) {
        if (status !== 200) expect([status, body.error_code]).toEqual([409, 'link_decided']);
      }
      // The codes of those that lost are cancelled.
      const kept = await Promise.all(
        [app.account_id, other].map((account_id) => server.service.store.listCodes(account_id)),
      );
      expect(kept.flat().length).toBe(done[0]?.body.status === 'approved' ? 1 : 0);
    });

    test('that crashed between its two writes leaves a code that nobody can have', async () => {
      const app = await linkingApplication(server);
      const approval = { ...(await app.begin()), account_id: app.account_id };
      const { store } = server.service;
      const { decideLink } = store;
      store.decideLink = () => Promise.reject(new Error('The process is gone.'));
      expect((await step('approve', approval)).status).toBe(500);
      store.decideLink = decideLink;
      const [orphan] = await store.listCodes(app.account_id);
      expect((await step('read', approval)).body).toMatchObject({ status: 'open', grant_id: null });

      const { body } = await step('approve', approval);
      expect(body.grant_id).not.toBe(orphan?.grant_id);
      expect((await convert(app, told({ body }).code)).grant_id).toBe(body.grant_id);
      expect(await store.listCodes(app.account_id)).toHaveLength(1);
    });

    test('whose response was lost is repeated without harm', async () => {
      const app = await linkingApplication(server);
      const approval = { ...(await app.begin()), account_id: app.account_id };
      const { store } = server.service;
      const { decideLink } = store;
      let written = 0;
      store.decideLink = async (decision) => {
        written++;
        await decideLink(decision);
        throw new Error('The connection is gone.');
      };
      expect((await step('approve', approval)).status).toBe(500);
      store.decideLink = decideLink;
      expect(written).toBe(1);
      const { body } = await step('approve', approval);
      expect(body.status).toBe('approved');
      expect((await convert(app, told({ body }).code)).grant_id).toBe(body.grant_id);
    });
  });

  describe('after an hour', () => {
    test('everything leads back to the application, for three hours more', async () => {
      const app = await linkingApplication(server);
      const { link } = await app.begin();
      const { account_id } = app;
      const steps: [Step, object][] = [
        ['read', { link }],
        ['identify', { link, account_id }],
        ['approve', { link, account_id }],
        ['deny', { link }],
      ];
      server.advance(HOUR - 1);
      expect((await step('identify', { link, account_id })).status).toBe(200);
      server.advance(1);
      for (const later of [0, 3 * HOUR - 1]) {
        server.advance(later);
        for (const [name, input] of steps) {
          const body = await expectRefused(await step(name, input), [410, 'link_expired', null]);
          expect(told({ body })).toMatchObject({
            error: 'access_denied',
            error_code: 'link_expired',
            request_id: body.request_id,
            state: app.request.state,
            iss: PUBLIC_URL,
          });
        }
      }
      server.advance(1);
      for (const [name, input] of steps) {
        await expectRefused(await step(name, input), [404, 'link_not_found', 'link_unknown']);
      }
    });
  });

  describe('a link that is not there', () => {
    const expectNotFound = async (link: string, reason: string, account_id: string) => {
      for (const name of ['read', 'identify', 'approve', 'deny'] as const) {
        const input = { link, ...(name !== 'read' && name !== 'deny' && { account_id }) };
        await expectRefused(await step(name, input), [404, 'link_not_found', reason]);
      }
    };

    test('is unknown by another secret with its id', async () => {
      const app = await linkingApplication(server);
      const { link_id } = await app.begin();
      const forged = formatCredential('link', link_id, new Uint8Array(32));
      await expectNotFound(forged, 'link_superseded', app.account_id);
    });

    test('ends with its application and with its redirect URI', async () => {
      const app = await linkingApplication(server);
      const { link } = await app.begin();
      const { application_id, account_id } = app;
      const change = (name: 'disable' | 'enable' | 'delete') =>
        succeed(server, `admin.applications.${name}`, { application_id }, operator);
      const register = (...redirect_uris: string[]) =>
        succeed(server, 'admin.applications.update', { application_id, redirect_uris }, operator);
      await register(`${CALLBACK}/`);
      await expectNotFound(link, 'link_redirect_uri_removed', account_id);
      await register('https://app.example/other', CALLBACK);
      await expectNotFound(link, 'link_redirect_uri_removed', account_id);
      await change('disable');
      await expectNotFound(link, 'link_of_disabled_application', account_id);
      await change('enable');
      await expectNotFound(link, 'link_of_disabled_application', account_id);
      await change('disable');
      await change('delete');
      await expectNotFound(link, 'link_of_deleted_application', account_id);
    });

    test('is gone with the account that it names', async () => {
      const app = await linkingApplication(server);
      const { link } = await app.begin({ login_hint: 'ada@example.com' });
      const { account_id } = app;
      await step('identify', { link, account_id });
      await succeed(server, 'admin.accounts.erase', { account_id }, operator);
      await expectNotFound(link, 'link_unknown', account_id);
    });
  });

  test('is in the export of its account, with who did what', async () => {
    const app = await linkingApplication(server);
    const { account_id } = app;
    const { body } = await step('approve', { ...(await app.begin()), account_id });
    const { grant_id } = await convert(app, told({ body }).code);
    const { cookie, path } = await openConnections(server, account_id);
    const confirmation = `${path}/${app.application_id}`;
    const { text } = await visit(server, confirmation, { cookie });
    const form = { form_token: formTokenIn(text), decision: 'disconnect' };
    expect((await visit(server, confirmation, { cookie, form })).status).toBe(303);
    const { history } = await succeed(server, 'admin.accounts.export', { account_id }, operator);
    expect(history).toMatchObject([
      { operation: 'admin.links.approve', by: 'operator', grant_id },
      { operation: 'grants.convert', by: 'application', grant_id },
      { operation: 'admin.connections.revoke', by: 'user', grant_id },
    ]);
  });

  test.each(['identify', 'approve', 'deny'] as const)(
    '%s reads nothing after its write, so no answer denies what was done',
    async (name) => {
      const app = await linkingApplication(server);
      const { link } = await app.begin();
      const store = server.service.store as unknown as Record<string, () => unknown>;
      const called: string[] = [];
      for (const [key, method] of Object.entries(store)) {
        // The room on the disk is measured beside the calls, at any time.
        if (typeof method !== 'function' || key === 'measure') continue;
        vi.spyOn(store, key).mockImplementation((...words) => {
          called.push(key);
          return method.apply(store, words);
        });
      }
      onTestFinished(() => void vi.restoreAllMocks());
      const account = name === 'deny' ? {} : { account_id: app.account_id };
      expect((await step(name, { link, ...account })).status).toBe(200);
      expect(called.at(-1)).toBe(name === 'identify' ? 'identifyLink' : 'decideLink');
    },
  );

  test('an account that is not there is no account to link', async () => {
    const { link } = await (await linkingApplication(server)).begin();
    for (const name of ['identify', 'approve'] as const) {
      const response = await step(name, { link, account_id: randomUUID() });
      await expectRefused(response, [404, 'account_not_found', null]);
    }
    expect((await step('read', { link })).body.status).toBe('open');
  });
});
