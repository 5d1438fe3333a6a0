import { randomUUID } from 'node:crypto';
import {
  type credentialPrefixes,
  type ErrorCode,
  formatCredential,
  type OperationName,
} from '@latchkey/schema';
import { expect, vi } from 'vitest';
import { invoke, JSON_TYPE, type Request, requestOf, send, succeed, type Wire } from './call.ts';
import {
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from './linked-application.ts';
import { operator, type ServerWithDatabase } from './running-server.ts';

/** The extra members of an error; some have the id of the request in them. */
type ErrorMembers = object | ((request_id: string) => object);

/** A way to cause an error, over either wire. */
export interface ErrorCase {
  code: ErrorCode;
  when: string;
  status: number;
  error: string;
  /** Headers beyond those of every response. */
  headers?: Record<string, string>;
  /** Prepares the error. Returns the request that causes it and the extra members of the error. */
  arrange(context: {
    server: ServerWithDatabase;
    wire: Wire;
    linked: LinkedApplication;
  }): Promise<{ request: Request; members?: ErrorMembers }>;
}

const MISSING = { 'www-authenticate': 'Bearer realm="latchkey"' };
const INVALID = { 'www-authenticate': 'Bearer realm="latchkey", error="invalid_token"' };

/** A well-formed credential that was never issued. */
export const unknownCredential = (
  kind: keyof typeof credentialPrefixes,
  id: string = randomUUID(),
): string => formatCredential(kind, id, crypto.getRandomValues(new Uint8Array(32)));

const readKey = { name: 'Ada', role: 'read' };

/** There may be 200 of them already. */
export async function aResource(server: ServerWithDatabase): Promise<string> {
  const { data } = await succeed(server, 'admin.resources.list', {}, operator);
  if (data.length > 0) return data[0].resource;
  const input = { resource: 'https://mcp0.example', name: 'One' };
  return (await succeed(server, 'admin.resources.create', input, operator)).resource;
}

/** Nobody listens there. */
async function anEndpoint(server: ServerWithDatabase, application_id: string): Promise<string> {
  const input = { url: 'http://127.0.0.1:9/events', application_id };
  return (await succeed(server, 'admin.endpoints.create', input, operator)).id;
}

const disable = ({ application_id }: LinkedApplication, server: ServerWithDatabase) =>
  succeed(server, 'admin.applications.disable', { application_id }, operator);

export function onOperation(
  name: OperationName,
  arrange: (
    linked: LinkedApplication,
    server: ServerWithDatabase,
  ) => Promise<{ input?: Record<string, unknown>; as?: string; members?: ErrorMembers }>,
): ErrorCase['arrange'] {
  return async ({ server, wire, linked }) => {
    const { input = {}, as = linked.bearer, members } = await arrange(linked, server);
    const request = { ...requestOf(wire, name, input), authorization: as };
    return { request, ...(members && { members }) };
  };
}

function unauthenticated(name: OperationName, authorization?: string): ErrorCase['arrange'] {
  return async ({ wire }) => ({ request: { ...requestOf(wire, name), authorization } });
}

function withBody(body: string, headers: Record<string, string> = JSON_TYPE): ErrorCase['arrange'] {
  return async ({ wire, linked }) => ({
    request: {
      ...requestOf(wire, 'grants.convert'),
      method: 'POST',
      authorization: linked.bearer,
      headers,
      body,
    },
  });
}

const CALLBACK = 'https://app.example/callback';
// RFC 7636, appendix B.
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const OTHER_VERIFIER = VERIFIER.toLowerCase();
const toCallback = { redirect_uri: CALLBACK };
const challenged = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' };

const issue = (path: string[], message: string) => ({ issues: [{ path, message }] });
const NO_UUID = 'Must be a UUID, such as 0193aa00-0000-7000-8000-000000000001.';

export const errorCases: ErrorCase[] = [
  {
    code: 'credentials_missing',
    when: 'an application sends no header',
    status: 401,
    error: 'invalid_client',
    headers: MISSING,
    arrange: unauthenticated('grants.convert'),
  },
  {
    code: 'credentials_missing',
    when: 'a grant sends no header',
    status: 401,
    error: 'invalid_token',
    headers: MISSING,
    arrange: unauthenticated('account.get'),
  },
  {
    code: 'credentials_missing',
    when: 'the operator sends no header',
    status: 401,
    error: 'invalid_client',
    headers: MISSING,
    arrange: unauthenticated('admin.applications.list'),
  },
  ...['', 'Bearer', 'Bearer ', 'Digest abc', 'Bearer a b', 'lk_app_x'].map(
    (header): ErrorCase => ({
      code: 'credentials_invalid',
      when: `the header is "${header}"`,
      status: 401,
      error: 'invalid_client',
      headers: INVALID,
      arrange: unauthenticated('grants.convert', header),
    }),
  ),
  {
    code: 'credentials_invalid',
    when: 'the application secret is unknown',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: unauthenticated('grants.revoke', `Bearer ${unknownCredential('applicationSecret')}`),
  },
  {
    code: 'credentials_invalid',
    when: 'the random part of the application secret is wrong',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: onOperation('grants.revoke', async ({ application_id }) => ({
      as: `Bearer ${unknownCredential('applicationSecret', application_id)}`,
    })),
  },
  {
    code: 'credentials_invalid',
    when: 'the checksum of the application secret is wrong',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: onOperation('grants.revoke', async ({ bearer }) => ({
      as: bearer.slice(0, -1) + (bearer.endsWith('0') ? '1' : '0'),
    })),
  },
  {
    code: 'credentials_invalid',
    when: 'an application sends Basic',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: onOperation('grants.recover', async ({ application_id, secret }) => ({
      as: `Basic ${btoa(`${application_id}:${secret}`)}`,
    })),
  },
  {
    code: 'credentials_invalid',
    when: 'a grant sends an application secret',
    status: 401,
    error: 'invalid_token',
    headers: INVALID,
    arrange: onOperation('account.get', async ({ bearer }) => ({ as: bearer })),
  },
  {
    code: 'credentials_invalid',
    when: 'Basic names a grant that the secret does not belong to',
    status: 401,
    error: 'invalid_token',
    headers: INVALID,
    arrange: onOperation('account.grant', async (linked) => ({
      as: `Basic ${btoa(`${randomUUID()}:${(await linked.link()).grant_secret}`)}`,
    })),
  },
  {
    code: 'credentials_invalid',
    when: 'the ADMIN_SECRET is wrong',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: unauthenticated('admin.applications.list', `${operator}x`),
  },
  {
    code: 'application_disabled',
    when: 'the application is disabled',
    status: 403,
    error: 'unauthorized_client',
    arrange: onOperation('grants.revoke', async (linked, server) => {
      const { grant_id } = await linked.link();
      await disable(linked, server);
      return { input: { grant_id } };
    }),
  },
  ...[asBearer, asBasic].map(
    (header): ErrorCase => ({
      code: 'application_disabled',
      when: `the application of the grant is disabled, by ${header.name}`,
      status: 403,
      error: 'unauthorized_client',
      arrange: onOperation('account.get', async (linked, server) => {
        const grant = await linked.link();
        await disable(linked, server);
        return { as: header(grant) };
      }),
    }),
  ),
  ...['', '{', 'null', '[]', '"text"', '42', '{"code":"x"', '\ufeff\ufeff{"code":"x"}'].map(
    (body): ErrorCase => ({
      code: 'body_malformed',
      when: `the body is ${JSON.stringify(body)}`,
      status: 400,
      error: 'invalid_request',
      arrange: withBody(body),
    }),
  ),
  {
    code: 'parameter_invalid',
    when: 'the code is missing',
    status: 400,
    error: 'invalid_request',
    arrange: onOperation('grants.convert', async () => ({
      input: { kode: 'lk_code_1' },
      members: issue(['code'], 'Invalid input: expected string, received undefined'),
    })),
  },
  {
    code: 'parameter_invalid',
    when: 'the code is empty',
    status: 400,
    error: 'invalid_request',
    arrange: onOperation('grants.convert', async () => ({
      input: { code: '' },
      members: issue(['code'], 'Must be the code that was issued. It starts with lk_code_.'),
    })),
  },
  {
    code: 'parameter_invalid',
    when: 'the code is a query operator of a database',
    status: 400,
    error: 'invalid_request',
    arrange: onOperation('grants.convert', async () => ({
      input: { code: { $ne: null } },
      members: issue(['code'], 'Invalid input: expected string, received object'),
    })),
  },
  {
    code: 'parameter_invalid',
    when: 'the identifier in the path is no UUID',
    status: 400,
    error: 'invalid_request',
    arrange: onOperation('admin.accounts.get', async () => ({
      input: { account_id: '1 or 1=1' },
      as: operator,
      members: issue(['account_id'], NO_UUID),
    })),
  },
  {
    code: 'media_type_unsupported',
    when: 'the body is text',
    status: 415,
    error: 'invalid_request',
    arrange: withBody('{"code":"x"}', { 'content-type': 'text/plain' }),
  },
  {
    code: 'body_too_large',
    when: 'the body has one byte more than 16 KiB',
    status: 413,
    error: 'invalid_request',
    arrange: withBody(`{"code":"${'x'.repeat(16 * 1024 + 1 - 11)}"}`),
  },
  {
    code: 'route_not_found',
    when: 'there is no such path',
    status: 404,
    error: 'invalid_request',
    arrange: async ({ wire, linked }) => ({
      request: {
        method: 'POST',
        path: wire === 'REST' ? '/oauth/convert/' : '/trpc/grants.Convert',
        authorization: linked.bearer,
      },
    }),
  },
  {
    code: 'method_not_allowed',
    when: 'a mutation is called by GET',
    status: 405,
    error: 'invalid_request',
    headers: { allow: 'POST' },
    arrange: async ({ wire }) => ({
      request: { ...requestOf(wire, 'grants.convert'), method: 'GET', body: undefined },
    }),
  },
  {
    code: 'method_not_allowed',
    when: 'a query is called by POST',
    status: 405,
    error: 'invalid_request',
    headers: { allow: 'GET, HEAD' },
    arrange: async ({ wire }) => ({
      request: { ...requestOf(wire, 'account.get'), method: 'POST' },
    }),
  },
  ...(['garbage', 'unknown', 'of another application', 'with another random part'] as const).map(
    (which): ErrorCase => ({
      code: 'code_not_found',
      when: `the code is ${which}`,
      status: 400,
      error: 'invalid_grant',
      arrange: onOperation('grants.convert', async (linked, server) => {
        const { grant_id } = await linked.issue();
        const other = await linkedApplication(server);
        const codes = {
          garbage: () => 'garbage',
          unknown: () => unknownCredential('code'),
          'of another application': async () => (await other.issue()).code,
          'with another random part': () => unknownCredential('code', grant_id),
        };
        return { input: { code: await codes[which]() } };
      }),
    }),
  ),
  {
    code: 'code_expired',
    when: 'the code is 300 s old',
    status: 400,
    error: 'invalid_grant',
    arrange: onOperation('grants.convert', async (linked, server) => {
      const { code } = await linked.issue();
      server.advance(300_000);
      return { input: { code } };
    }),
  },
  {
    code: 'code_already_used',
    when: 'the code was converted',
    status: 400,
    error: 'invalid_grant',
    arrange: onOperation('grants.convert', async (linked) => {
      const { code, grant_id } = await linked.issue();
      await linked.convert(code);
      return { input: { code }, members: { grant_id } };
    }),
  },
  ...(
    [
      ['redirect_uri_mismatch', 'it is another one', toCallback, { redirect_uri: `${CALLBACK}/` }],
      ['redirect_uri_mismatch', 'it is left out', toCallback, {}],
      ['code_verifier_mismatch', 'there is no challenge', {}, { code_verifier: VERIFIER }],
      ['code_verifier_mismatch', 'it is left out', challenged, {}],
      [
        'code_verifier_mismatch',
        'it is another one',
        challenged,
        { code_verifier: OTHER_VERIFIER },
      ],
    ] as const
  ).map(
    ([code, when, binding, sent]): ErrorCase => ({
      code,
      when,
      status: 400,
      error: 'invalid_grant',
      arrange: onOperation('grants.convert', async (linked) => {
        const { code } = await linked.issue(binding);
        return { input: { code, ...sent } };
      }),
    }),
  ),
  {
    code: 'token_of_another_application',
    when: 'an active one is revoked',
    status: 400,
    error: 'invalid_request',
    arrange: onOperation('grants.revokeToken', async (_linked, server) => {
      const { grant_secret } = await (await linkedApplication(server)).link();
      return { input: { token: grant_secret } };
    }),
  },
  ...(['grants.revoke', 'grants.recover', 'admin.grants.revoke'] as const).flatMap((name) =>
    (['unknown', 'not converted'] as const).map(
      (which): ErrorCase => ({
        code: 'grant_not_found',
        when: `the grant of ${name} is ${which}`,
        status: 404,
        error: 'invalid_grant',
        arrange: onOperation(name, async (linked) => ({
          input: { grant_id: which === 'unknown' ? randomUUID() : (await linked.issue()).grant_id },
          as: name === 'admin.grants.revoke' ? operator : linked.bearer,
        })),
      }),
    ),
  ),
  ...(['grants.revoke', 'grants.recover'] as const).map(
    (name): ErrorCase => ({
      code: 'grant_not_found',
      when: `the grant of ${name} is another application’s`,
      status: 404,
      error: 'invalid_grant',
      arrange: onOperation(name, async (_linked, server) => {
        const { grant_id } = await (await linkedApplication(server)).link();
        return { input: { grant_id } };
      }),
    }),
  ),
  {
    code: 'grant_not_found',
    when: 'the code to cancel was converted',
    status: 404,
    error: 'invalid_grant',
    arrange: onOperation('admin.codes.cancel', async (linked) => ({
      input: { grant_id: (await linked.link()).grant_id },
      as: operator,
    })),
  },
  {
    code: 'grant_not_recoverable',
    when: 'the grant was used',
    status: 409,
    error: 'invalid_grant',
    arrange: onOperation('grants.recover', async (linked, server) => {
      const grant = await linked.link();
      await succeed(server, 'account.get', {}, asBearer(grant));
      return { input: { grant_id: grant.grant_id } };
    }),
  },
  ...(
    [
      'admin.applications.get',
      'admin.applications.disable',
      'admin.applications.enable',
      'admin.applications.delete',
      'admin.applications.secrets.create',
    ] as const
  ).map(
    (name): ErrorCase => ({
      code: 'application_not_found',
      when: `${name} names an unknown application`,
      status: 404,
      error: 'invalid_request',
      arrange: onOperation(name, async () => ({
        input: { application_id: randomUUID() },
        as: operator,
      })),
    }),
  ),
  {
    code: 'application_not_found',
    when: 'a code is issued to an unknown application',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.codes.issue', async ({ account_id }) => ({
      input: { application_id: randomUUID(), account_id, scope: 'a' },
      as: operator,
    })),
  },
  ...(['admin.accounts.get', 'admin.accounts.export'] as const).flatMap((name) =>
    (['unknown', 'erased'] as const).map(
      (which): ErrorCase => ({
        code: 'account_not_found',
        when: `${name} names an account that is ${which}`,
        status: 404,
        error: 'invalid_request',
        arrange: onOperation(name, async ({ account_id }, server) => {
          if (which === 'unknown') return { input: { account_id: randomUUID() }, as: operator };
          await succeed(server, 'admin.accounts.erase', { account_id }, operator);
          return { input: { account_id }, as: operator };
        }),
      }),
    ),
  ),
  {
    code: 'account_not_found',
    when: 'a code is issued about an erased one',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.codes.issue', async ({ application_id, account_id }, server) => {
      await succeed(server, 'admin.accounts.erase', { account_id }, operator);
      return { input: { application_id, account_id, scope: 'a' }, as: operator };
    }),
  },
  {
    code: 'application_not_found',
    when: 'one is deleted again',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.applications.delete', async ({ application_id }, server) => {
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      await succeed(server, 'admin.applications.delete', { application_id }, operator);
      return { input: { application_id }, as: operator };
    }),
  },
  {
    code: 'application_enabled',
    when: 'one is deleted that is enabled',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.applications.delete', async ({ application_id }) => ({
      input: { application_id },
      as: operator,
    })),
  },
  {
    code: 'credentials_invalid',
    when: 'the application of a grant was deleted',
    status: 401,
    error: 'invalid_token',
    headers: INVALID,
    arrange: onOperation('account.get', async ({ application_id, link }, server) => {
      const grant = await link();
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      await succeed(server, 'admin.applications.delete', { application_id }, operator);
      return { as: asBearer(grant) };
    }),
  },
  {
    code: 'credentials_invalid',
    when: 'the application was deleted',
    status: 401,
    error: 'invalid_client',
    headers: INVALID,
    arrange: onOperation('grants.revoke', async ({ application_id }, server) => {
      await succeed(server, 'admin.applications.disable', { application_id }, operator);
      await succeed(server, 'admin.applications.delete', { application_id }, operator);
      return { input: { grant_id: randomUUID() } };
    }),
  },
  {
    code: 'credentials_invalid',
    when: 'the account of the grant was erased',
    status: 401,
    error: 'invalid_token',
    headers: INVALID,
    arrange: onOperation('account.grant', async ({ account_id, link }, server) => {
      const grant = await link();
      await succeed(server, 'admin.accounts.erase', { account_id }, operator);
      return { as: asBearer(grant) };
    }),
  },
  {
    code: 'account_not_found',
    when: 'a code is issued for an unknown account',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.codes.issue', async ({ application_id }) => ({
      input: { application_id, account_id: randomUUID(), scope: 'a' },
      as: operator,
    })),
  },
  {
    code: 'application_public',
    when: 'a public application is to get a secret',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.applications.secrets.create', async (_, server) => {
      const { id } = await succeed(
        server,
        'admin.applications.create',
        { name: 'A command line', public: true },
        operator,
      );
      return { input: { application_id: id }, as: operator };
    }),
  },
  {
    code: 'scope_not_found',
    when: 'a scope is deleted that is not described',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.scopes.delete', async () => ({
      input: { scope: 'nobody.knows' },
      as: operator,
    })),
  },
  {
    code: 'scope_limit_reached',
    when: 'a 201st scope is described',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.scopes.put', async (_, server) => {
      for (let have = 0; have < 200; have++) {
        await succeed(server, 'admin.scopes.put', { scope: `s${have}`, title: 'One' }, operator);
      }
      return { input: { scope: 'one.more', title: 'One more' }, as: operator };
    }),
  },
  ...(['admin.resources.update', 'admin.resources.delete'] as const).map(
    (name): ErrorCase => ({
      code: 'resource_not_found',
      when: `an unknown resource is named by ${name}`,
      status: 404,
      error: 'invalid_request',
      arrange: onOperation(name, async () => ({
        input: { resource_id: randomUUID() },
        as: operator,
      })),
    }),
  ),
  {
    code: 'resource_exists',
    when: 'a resource is created twice, in other words',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.resources.create', async (_, server) => ({
      input: { resource: `${(await aResource(server)).toUpperCase()}/`, name: 'Again' },
      as: operator,
    })),
  },
  {
    code: 'resource_limit_reached',
    when: 'a 201st resource is created',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.resources.create', async (_, server) => {
      for (let have = 0; have < 200; have++) {
        const resource = `https://mcp${have}.example`;
        // On the other wire, they were created before.
        await invoke(server, 'REST', 'admin.resources.create', { resource, name: 'One' }, operator);
      }
      return { input: { resource: 'https://one.more.example', name: 'One more' }, as: operator };
    }),
  },
  {
    code: 'right_missing',
    when: 'the role of the key lacks the operation',
    status: 403,
    error: 'insufficient_scope',
    arrange: onOperation('admin.applications.create', async (_, server) => {
      // On the other wire, there are 50.
      const { data } = await succeed(server, 'admin.keys.list', {}, operator);
      const key_id = data[0]?.id ?? randomUUID();
      await invoke(server, 'REST', 'admin.keys.delete', { key_id }, operator);
      const { secret } = await succeed(server, 'admin.keys.create', readKey, operator);
      return { input: { name: 'Acme' }, as: `Bearer ${secret}` };
    }),
  },
  {
    code: 'key_not_found',
    when: 'an unknown key is deleted',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.keys.delete', async () => ({
      input: { key_id: randomUUID() },
      as: operator,
    })),
  },
  {
    code: 'key_limit_reached',
    when: 'a 51st key is created',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.keys.create', async (_, server) => {
      for (let have = 0; have < 50; have++) {
        // On the other wire, they were created before.
        await invoke(server, 'REST', 'admin.keys.create', readKey, operator);
      }
      return { input: readKey, as: operator };
    }),
  },
  ...(['get', 'update', 'delete', 'rotate', 'ping'] as const).map(
    (verb): ErrorCase => ({
      code: 'endpoint_not_found',
      when: `an unknown endpoint is named by admin.endpoints.${verb}`,
      status: 404,
      error: 'invalid_request',
      arrange: onOperation(`admin.endpoints.${verb}`, async () => ({
        input: { endpoint_id: randomUUID() },
        as: operator,
      })),
    }),
  ),
  {
    code: 'endpoint_limit_reached',
    when: 'a fourth endpoint of an application is created',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.endpoints.create', async ({ application_id }, server) => {
      const input = { url: 'https://app.example/events', application_id };
      for (let have = 0; have < 3; have++) {
        await succeed(server, 'admin.endpoints.create', input, operator);
      }
      return { input, as: operator };
    }),
  },
  ...(['ping', 'replay'] as const).map(
    (verb): ErrorCase => ({
      code: 'endpoint_disabled',
      when: `a disabled endpoint is named by admin.endpoints.${verb}`,
      status: 409,
      error: 'invalid_request',
      arrange: onOperation(`admin.endpoints.${verb}`, async ({ application_id }, server) => {
        const endpoint_id = await anEndpoint(server, application_id);
        const off = { endpoint_id, disabled: true };
        await succeed(server, 'admin.endpoints.update', off, operator);
        const since = { since: '2026-11-21T02:15:30Z' };
        return { input: { endpoint_id, ...(verb === 'replay' && since) }, as: operator };
      }),
    }),
  ),
  {
    code: 'delivery_not_found',
    when: 'an unknown delivery is retried',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.deliveries.retry', async () => ({
      input: { delivery_id: randomUUID() },
      as: operator,
    })),
  },
  {
    code: 'delivery_pending',
    when: 'a delivery is retried that is under way',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation('admin.deliveries.retry', async ({ application_id }, server) => {
      const endpoint_id = await anEndpoint(server, application_id);
      for (const verb of ['disable', 'enable'] as const) {
        await succeed(server, `admin.applications.${verb}`, { application_id }, operator);
      }
      // No other process has it from then on.
      const delivery_id = await vi.waitFor(async () => {
        const [claimed] = await server.service.store.claimDeliveries({
          ...{ now: server.now() + 3_600_000, claim: randomUUID() },
          endpoints: [{ id: endpoint_id, most: 9 }],
        });
        expect(claimed).toBeDefined();
        return claimed?.delivery.id;
      }, 20_000);
      return { input: { delivery_id }, as: operator };
    }),
  },
  {
    code: 'target_unknown',
    when: 'a code is issued for a resource that is not registered',
    status: 400,
    error: 'invalid_target',
    arrange: onOperation('admin.codes.issue', async ({ application_id, account_id }) => ({
      input: { application_id, account_id, scope: 'a', resource: 'https://nobody.example' },
      as: operator,
    })),
  },
  {
    code: 'target_mismatch',
    when: 'a code of no resource is converted for one',
    status: 400,
    error: 'invalid_target',
    arrange: onOperation('grants.convert', async (linked, server) => {
      const resource = await aResource(server);
      const { code } = await linked.issue();
      return { input: { code, resource } };
    }),
  },
  {
    code: 'resource_mismatch',
    when: 'a grant of a resource asks for the account',
    status: 403,
    error: 'insufficient_scope',
    arrange: onOperation('account.get', async (linked, server) => {
      const resource = await aResource(server);
      const { code } = await linked.issue({ resource });
      return { as: asBearer(await linked.convert(code)) };
    }),
  },
  {
    code: 'secret_not_found',
    when: 'an unknown secret is removed',
    status: 404,
    error: 'invalid_request',
    arrange: onOperation('admin.applications.secrets.revoke', async ({ application_id }) => ({
      input: { application_id, secret_id: randomUUID() },
      as: operator,
    })),
  },
  {
    code: 'secret_limit_reached',
    when: 'a sixth secret is added',
    status: 409,
    error: 'invalid_request',
    arrange: onOperation(
      'admin.applications.secrets.create',
      async ({ application_id }, server) => {
        for (let have = 1; have < 5; have++) {
          await succeed(server, 'admin.applications.secrets.create', { application_id }, operator);
        }
        return { input: { application_id }, as: operator };
      },
    ),
  },
  {
    code: 'rate_limited',
    when: 'a second convert fails within a minute that allows one',
    status: 429,
    error: 'temporarily_unavailable',
    headers: {
      'retry-after': '60',
      'ratelimit-limit': '1',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '60',
    },
    arrange: onOperation('grants.convert', async ({ bearer }, server) => {
      await send(server, {
        ...requestOf('REST', 'grants.convert', { code: 'x' }),
        authorization: bearer,
      });
      return { input: { code: 'y' } };
    }),
  },
  {
    code: 'internal_error',
    when: 'the account of a grant was deleted by hand',
    status: 500,
    error: 'server_error',
    arrange: onOperation('account.get', async (linked, server) => {
      const grant = await linked.link();
      await server.database.deleteAccount(linked.account_id);
      return { as: asBearer(grant) };
    }),
  },
];
