import { objects } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { type HttpResponse, headersOf, invoke, JSON_TYPE, send, succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { confidentialMethods, pkce, postForm, tokenRequest } from './forms.ts';
import { ADA, asBearer, type LinkedApplication, linkedApplication } from './linked-application.ts';
import { RawConnection } from './raw-connection.ts';
import { operator, startTestServer, useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

const CALLBACK = 'https://app.example/callback?a=1';

const basicOf = (linked: LinkedApplication) =>
  confidentialMethods.client_secret_basic(linked).authorization;

describeOnEachStore('POST /oauth/token', (fresh) => {
  const server = useServer(fresh);
  const redeem = (linked: LinkedApplication, fields: Record<string, string>) =>
    postForm(server, '/oauth/token', fields, basicOf(linked));
  const convert = (linked: LinkedApplication, fields: Record<string, string>) =>
    invoke(server, 'REST', 'grants.convert', fields, linked.bearer);

  test('converts a code, in the words of OAuth', async () => {
    const linked = await linkedApplication(server);
    const { code, grant_id } = await linked.issue();
    const response = await redeem(linked, tokenRequest(code));
    const { grant } = response.json;
    expect(response.status).toBe(200);
    expect(response.json).toStrictEqual({
      access_token: grant.grant_secret,
      token_type: 'Bearer',
      scope: 'profile.read email',
      grant: {
        object: 'oauth_grant',
        grant_id,
        created_at: grant.created_at,
        scope: 'profile.read email',
        grant_secret: grant.grant_secret,
        revoked: false,
        account: { object: 'service_account', id: linked.account_id, ...ADA },
      },
    });
    expect(objects.tokenResponse.parse(response.json)).toStrictEqual(response.json);
    expect((await invoke(server, 'REST', 'account.get', {}, asBearer(grant))).status).toBe(200);
    const { 'x-request-id': request_id, ...headers } = headersOf(response);
    expect(headers).toEqual({
      'content-type': 'application/json; charset=UTF-8',
      'cache-control': 'no-store',
      pragma: 'no-cache',
    });

    const again = await redeem(linked, tokenRequest(code));
    expect(again.json).toMatchObject({ error_code: 'code_already_used', grant_id });
    expect(headersOf(again).pragma).toBe('no-cache');
  });

  test('takes JSON too, with an Authorization header', async () => {
    const linked = await linkedApplication(server);
    for (const authorization of [linked.bearer, basicOf(linked)]) {
      const body = JSON.stringify(tokenRequest((await linked.issue()).code));
      const request = { method: 'POST', path: '/oauth/token', headers: JSON_TYPE, authorization };
      expect((await send(server, { ...request, body })).json.token_type).toBe('Bearer');
    }
  });

  test.each([
    [{}, 'parameter_invalid'],
    [{ grant_type: '' }, 'parameter_invalid'],
    [{ grant_type: 'refresh_token', refresh_token: 'x' }, 'grant_type_unsupported'],
    [{ grant_type: 'Authorization_Code', code: 'x' }, 'grant_type_unsupported'],
    [{ grant_type: 'authorization_code' }, 'parameter_invalid'],
    [{ grant_type: 'authorization_code', code: 'x', code_verifier: 'y' }, 'parameter_invalid'],
  ] as [Record<string, string>, string][])('refuses %j: %s', async (fields, error_code) => {
    const { status, json } = await redeem(await linkedApplication(server), fields);
    const error = error_code === 'parameter_invalid' ? 'invalid_request' : 'unsupported_grant_type';
    expect([status, json.error_code, json.error]).toEqual([400, error_code, error]);
  });

  test.each(['/oauth/token', '/oauth/convert'])(
    'and its sibling hold a code to what it is bound to, and never spend it on a failure: %s',
    async (path) => {
      const linked = await linkedApplication(server);
      const other = await linkedApplication(server);
      const call = (fields: Record<string, string>, by = linked) =>
        path === '/oauth/token' ? redeem(by, tokenRequest('', fields)) : convert(by, fields);
      const { code_verifier, code_challenge } = pkce();
      const wrong = pkce().code_verifier;
      const uri = { redirect_uri: CALLBACK };
      const elsewhere = { redirect_uri: `${CALLBACK}&b=2` };

      const rows: [object, [Record<string, string>, string][], Record<string, string>[]][] = [
        // A code that is bound to nothing: a redirect URI is ignored.
        [{}, [[{ code_verifier }, 'code_verifier_mismatch']], [{}, elsewhere]],
        [
          uri,
          [
            [elsewhere, 'redirect_uri_mismatch'],
            [{ redirect_uri: `${CALLBACK}\0` }, 'redirect_uri_mismatch'],
            [{}, 'redirect_uri_mismatch'],
            [{ ...uri, code_verifier }, 'code_verifier_mismatch'],
          ],
          [uri],
        ],
        [
          { code_challenge },
          [
            [{}, 'code_verifier_mismatch'],
            [{ code_verifier: wrong }, 'code_verifier_mismatch'],
            // The challenge itself went through the browser (RFC 7636, section 7.2).
            [{ code_verifier: code_challenge }, 'code_verifier_mismatch'],
          ],
          [{ code_verifier }, { code_verifier, ...elsewhere }],
        ],
        [
          { ...uri, code_challenge },
          [
            [{ code_verifier: wrong, ...elsewhere }, 'redirect_uri_mismatch'],
            [{ code_verifier: wrong, ...uri }, 'code_verifier_mismatch'],
            [uri, 'code_verifier_mismatch'],
          ],
          [{ code_verifier, ...uri }, { code_verifier }],
        ],
      ];
      for (const [binding, failures, right] of rows) {
        for (const fields of right) {
          const { code, grant_id } = await linked.issue(binding);
          for (const [wrongFields, error_code] of failures) {
            const { status, json } = await call({ code, ...wrongFields });
            expect([status, json.error_code, json.error]).toEqual([
              400,
              error_code,
              'invalid_grant',
            ]);
            // To another application it does not exist, whatever it sends.
            expect((await call({ code, ...wrongFields }, other)).json.error_code).toBe(
              'code_not_found',
            );
          }
          expect((await call({ code, ...fields })).status).toBe(200);
          for (const [wrongFields, error_code] of failures) {
            expect((await call({ code, ...wrongFields })).json.error_code).toBe(error_code);
          }
          const replay = await call({ code, ...fields });
          expect(replay.json).toMatchObject({ error_code: 'code_already_used', grant_id });
        }
      }
    },
  );

  test('leaves the code after every refusal', async () => {
    const linked = await linkedApplication(server);
    const other = await linkedApplication(server);
    const { application_id } = linked;
    const { code_verifier, code_challenge } = pkce();
    const { code } = await linked.issue({ redirect_uri: CALLBACK, code_challenge });
    const right = tokenRequest(code, { redirect_uri: CALLBACK, code_verifier });
    const token = (fields: Record<string, string>, authorization?: string) =>
      postForm(server, '/oauth/token', fields, authorization);
    const refused: HttpResponse[] = [
      await token(right),
      await token(
        right,
        basicOf({ ...linked, secret: unknownCredential('applicationSecret', application_id) }),
      ),
      await token(right, basicOf(other)),
      await token({ ...right, client_id: application_id }),
      await token({ ...right, grant_type: 'password' }, basicOf(linked)),
      await token({ ...right, code_verifier: 'short' }, basicOf(linked)),
      await token({ ...right, client_secret: 'x' }, basicOf(linked)),
      await token({ ...right, client_id: other.application_id }, basicOf(linked)),
    ];
    expect(refused.map(({ status }) => status)).toEqual([401, 401, 400, 400, 400, 400, 400, 400]);
    expect((await token(right, basicOf(linked))).status).toBe(200);
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    expect((await token(right, basicOf(linked))).status).toBe(403);
  });

  test('is one with /oauth/convert: of concurrent calls over both, exactly one succeeds', async () => {
    const sibling = await startTestServer(server.database.url);
    const linked = await linkedApplication(server);
    for (let round = 0; round < 4; round++) {
      const { code_verifier, code_challenge } = pkce();
      const { code, grant_id } = await linked.issue({ redirect_uri: CALLBACK, code_challenge });
      const right = { code, redirect_uri: CALLBACK, code_verifier };
      const stolen = { ...right, code_verifier: pkce().code_verifier };
      const calls = [server, sibling].flatMap((target) =>
        [right, stolen, right, stolen].flatMap((fields) => [
          postForm(target, '/oauth/token', tokenRequest(code, fields), basicOf(linked)),
          invoke(target, 'REST', 'grants.convert', fields, linked.bearer),
          invoke(target, 'tRPC', 'grants.convert', fields, linked.bearer).then(
            ({ body, ...response }) => ({ ...response, json: body }),
          ),
        ]),
      );
      const outcomes = (await Promise.all(calls)).map(({ status, json }) =>
        status === 200 ? 'success' : json.error_code,
      );
      const count = (outcome: string) => outcomes.filter((one) => one === outcome).length;
      expect(['success', 'code_already_used', 'code_verifier_mismatch'].map(count)).toEqual([
        1, 11, 12,
      ]);
      expect(grant_id).toBeDefined();
    }
    await sibling.close();
  });

  test('serves a public application, whose secret is the verifier', async () => {
    const linked = await linkedApplication(server, { public: true });
    const client_id = linked.application_id;
    const { code_verifier, code_challenge } = pkce();
    const { code } = await linked.issue({ code_challenge });
    const token = (fields: Record<string, string>) =>
      postForm(server, '/oauth/token', { ...tokenRequest(code), client_id, ...fields });
    expect((await token({})).json.error_code).toBe('code_verifier_mismatch');
    expect((await token({ code_verifier: pkce().code_verifier })).json.error_code).toBe(
      'code_verifier_mismatch',
    );
    const { json } = await token({ code_verifier });
    const account = await invoke(server, 'REST', 'account.get', {}, asBearer(json.grant));
    expect(account.body.id).toBe(linked.account_id);
  });
});

describeOnEachStore('the headers of /oauth/token', (fresh) => {
  const server = useServer(fresh);

  test('have Pragma on every response of the route', async () => {
    const connection = new RawConnection(server);
    for (const lines of [[], ['Authorization: Bearer x'], ['Content-Type: text/plain']]) {
      connection.request(['POST /oauth/token HTTP/1.1', 'Host: x', 'Content-Length: 0', ...lines]);
      const response = await connection.response();
      expect(response.status).toBe(401);
      expect(response.lines).toContain('Pragma: no-cache');
    }
    connection.end();
  });
});
