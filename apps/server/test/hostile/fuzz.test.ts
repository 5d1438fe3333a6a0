import {
  type ErrorCode,
  errorDefinition,
  type OperationContract,
  type OperationName,
  objects,
  operationNames,
  operations,
} from '@latchkey/schema';
import { isLong, longer, slow } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { errorsOf } from '../../src/openapi/errors.ts';
import { inputsOf } from '../cases/cases.ts';
import { newWorld } from '../cases/world.ts';
import { type Json, type Request, requestOf, send, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { FORM_TYPE, pkce, postForm, tokenRequest } from '../http/forms.ts';
import { asBasic, asBearer, linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, useServer } from '../http/running-server.ts';
import { unknownCredential } from '../http/unknown-credential.ts';
import { LINKING } from '../linking/link-flow.ts';
import { assertions } from './unverified.ts';

/** The errors before any operation: an unknown route or a wrong method. */
const ANYWHERE: ErrorCode[] = ['route_not_found', 'method_not_allowed'];
/** The errors of an input: a body is checked for the whole batch, a GET has its input in the query. */
const INPUT: ErrorCode[] = ['body_malformed', 'body_too_large', 'media_type_unsupported'];
/** The errors of a form of {@link FORM_ROUTES}. */
const FORM: ErrorCode[] = [
  ...INPUT,
  'credentials_missing',
  'credentials_invalid',
  'parameter_invalid',
  'code_not_found',
  'code_verifier_mismatch',
  'target_mismatch',
  'grant_type_unsupported',
];
const FORM_ROUTES = ['/oauth/token', '/oauth/revoke', '/oauth/introspect'] as const;

const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const CLIENT = 'https://127.0.0.1:1/client';
const CLAIMS = { iss: CLIENT, sub: CLIENT, aud: 'https://link.example', exp: 4_000_000_000 };
/** Nobody listens there. */
const DOCUMENTS = { CLIENT_DOCUMENTS: '127.0.0.1', OUTBOUND_ALLOW: 'private' };

const TIMEOUT = { timeout: longer(300_000, 1_800_000) };
// The same calls every day, others every night.
const RUNS = isLong ? { numRuns: 20_000 } : { numRuns: 400, seed: 1 };

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    ...['', '__proto__', 'constructor', 'toString', 'admin', 'admin.', '.', '..', 'a.b.c'],
  ),
);
// `fetch` would resolve these in the path before sending it.
const isDots = (text: string) => /^\.{1,2}$/.test(text);

/** Names for a method: mostly procedures with that method. */
const namesFor = (isQuery: boolean) =>
  fc
    .array(
      fc.oneof(
        {
          weight: 8,
          arbitrary: fc.constantFrom<string>(
            ...operationNames.filter((name) => (operations[name].method === 'GET') === isQuery),
          ),
        },
        { weight: 1, arbitrary: fc.constantFrom<string>(...operationNames) },
        { weight: 1, arbitrary: anyText.filter((text) => !text.includes('/') && !isDots(text)) },
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((list) => list.map((name) => encodeURIComponent(name.toWellFormed())).join(','));
const methodAndNames = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(fc.constant('GET'), namesFor(true)) },
  { weight: 6, arbitrary: fc.tuple(fc.constant('POST'), namesFor(false)) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('PUT', 'DELETE', 'OPTIONS', 'HEAD'), namesFor(true)),
  },
);
const batch = fc.constantFrom(
  ...Array(8).fill('batch=1'),
  ...['batch=', 'batch=true', '', 'batch=1&batch=0'],
);

/** One resource in several notations, and texts that are none. */
const resources = [
  ...['https://mcp.example/mcp', 'HTTPS://MCP.EXAMPLE:443/mcp/', 'https://mcp.example/m%63p'],
  ...['https://mcp.example/a/../mcp', 'https://mcp.example/mcp?', 'http://127.0.0.1:0x50/mcp'],
];

/** Those of few operations are as frequent as those of many. */
const membersOfInputs = new Set(
  operationNames.flatMap((name) =>
    Object.keys(z.toJSONSchema(operations[name].input, { io: 'input' }).properties ?? {}),
  ),
);

// Ids and credentials are chosen by number: they exist only once the server runs.
const members = fc.dictionary(
  fc.constantFrom('__proto__', 'constructor', ...membersOfInputs),
  fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 5 }).map((id) => ({ id })) },
    { weight: 2, arbitrary: anyText },
    fc.constantFrom(...resources),
    fc.integer({ min: -1, max: 101 }),
    fc.jsonValue({ maxDepth: 2 }),
  ),
  { maxKeys: 5, noNullPrototype: true },
);
const inputs = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.dictionary(fc.constantFrom('0', '1', '2', '3', '-1', '__proto__'), members),
  },
  { weight: 3, arbitrary: members },
  fc.jsonValue(),
);
const credential = fc.nat({ max: 8 });
/** How the input is sent: nearly always complete and in the right place. */
const damage = fc.constantFrom<'none' | 'cut' | 'missing' | 'misplaced' | 'huge'>(
  ...(['none', 'none', 'none', 'none', 'cut', 'missing', 'misplaced', 'huge'] as const),
);
const type = fc.constantFrom(
  ...Array(3).fill('application/json'),
  ...['text/plain', 'application/json;charset=x'],
);

const damaged = (text: string, how: string) =>
  ({ cut: text.slice(0, -1), missing: '', huge: text.padEnd(17_000) })[how] ?? text;

/** Checks an error: its shape, its status and that it is one of those. */
function checkError(status: number, body: Json, documented: readonly ErrorCode[]): void {
  expect(objects.errorBody.parse(body)).toEqual(body);
  expect(documented).toContain(body.error_code);
  expect(['internal_error', 'store_unavailable', 'outcome_unknown']).not.toContain(body.error_code);
  // The credentials of a form are part of it.
  const isInForm = documented === FORM && body.error_code === 'credentials_invalid';
  expect(isInForm ? [400, 401] : [errorDefinition(body.error_code).status]).toContain(status);
}

/** `POST /oauth/revoke` has two operations. Its body says which one is meant. */
function operationMeant(name: OperationName, input: unknown): OperationName {
  if (name !== 'grants.revoke' && name !== 'grants.revokeToken') return name;
  const has = (member: string) =>
    typeof input === 'object' && input !== null && Object.hasOwn(input, member);
  return has('grant_id') ? 'grants.revoke' : has('token') ? 'grants.revokeToken' : name;
}

/** Checks the result or the error of an operation; undefined if there is no such operation. */
function check(status: number, body: Json, name: string | undefined): void {
  const operation: OperationContract | undefined =
    name !== undefined && Object.hasOwn(operations, name)
      ? operations[name as OperationName]
      : undefined;
  if (status !== 200) {
    const documented = operation ? [...errorsOf(operation), ...INPUT] : [];
    checkError(status, body, [...documented, ...ANYWHERE]);
    return;
  }
  expect(operation).toBeDefined();
  expect(operation?.output.parse(body)).toEqual(body);
}

describeOnAnyStore('a call, fuzzed,', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...DOCUMENTS, EVENTS_KEY: EVENTS.EVENTS_KEY });
  let credentials: (string | undefined)[];
  let ids: string[];
  let valid: ReturnType<typeof inputsOf>;
  beforeAll(async () => {
    const world = await newWorld(server);
    const { grant, account_id, application_id, secret_id, endpoint_id, delivery_id } = world;
    const reader = { name: 'Ada', role: 'read' };
    const key = await succeed(server, 'admin.keys.create', reader, operator);
    credentials = [
      ...[world.bearer, asBearer(grant), asBasic(grant), operator, operator, undefined],
      ...['', `Bearer ${unknownCredential('grantSecret')}`, `Bearer ${key.secret}`],
    ];
    ids = [account_id, application_id, secret_id, grant.grant_id, endpoint_id, delivery_id];
    valid = inputsOf(world);
    const resource = resources[0] as string;
    await succeed(server, 'admin.resources.create', { resource, name: 'Notes' }, operator);
  });
  afterAll(() => {
    const failures = server.lines
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level >= 40)
      // A fuzz run is a flood: the service may drop some of its refusals. Nobody hears its pings.
      .filter(({ msg }) => !/^too many refusals|^a delivery was given up/.test(msg));
    expect(failures).toEqual([]);
  });

  const given = (json: unknown) =>
    JSON.stringify(json, (_, value) =>
      typeof value?.id === 'number' && Object.keys(value).length === 1 ? ids[value.id] : value,
    ) ?? '';

  test('has a response as documented over tRPC', { ...slow, ...TIMEOUT }, async () => {
    const requests = fc.record({
      call: methodAndNames,
      batch,
      credential,
      input: inputs,
      damage,
      type,
    });
    const reached = new Set<number>();
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const [method, names] = sent.call;
        const text = damaged(given(sent.input), sent.damage);
        const takesBody =
          (method === 'POST') !== (sent.damage === 'misplaced') &&
          !['GET', 'HEAD'].includes(method);
        const inQuery = !takesBody && sent.damage !== 'huge';
        const query = inQuery ? `&input=${encodeURIComponent(text.toWellFormed())}` : '';
        const { status, headers, json } = await send(server, {
          method,
          path: `/trpc/${names}?${sent.batch}${query}`,
          authorization: credentials[sent.credential],
          ...(takesBody && { headers: { 'content-type': sent.type }, body: text }),
        });
        expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
        expect(headers.get('cache-control')).toBe('no-store');
        if (method === 'HEAD') return;
        const batched = /^batch=1(&|$)/.test(sent.batch);
        const called = decodeURIComponent(names);
        const calls = batched ? called.split(',') : [called];
        expect(Array.isArray(json)).toBe(batched);
        const items: Json[] = batched ? json : [json];
        expect(items).toHaveLength(calls.length);
        const statuses = new Set<number>();
        for (const [index, { result, error }] of items.entries()) {
          const { code: _code, path: _path, httpStatus = 200, ...body } = error?.data ?? {};
          check(httpStatus, error === undefined ? result.data : body, calls[index]);
          statuses.add(httpStatus);
          reached.add(httpStatus);
        }
        expect(status).toBe(statuses.size === 1 ? [...statuses][0] : 207);
      }),
      RUNS,
    );
    // Otherwise the run has tested nothing: some calls succeed, and some fail at each step.
    expect([...reached]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415]));
  });

  test('has a response as documented over REST', { ...slow, ...TIMEOUT }, async () => {
    const name = fc.constantFrom(...operationNames);
    const pathId = fc.option(fc.nat({ max: 5 }));
    const isValid = fc.boolean();
    const input = members;
    const requests = fc.record({ name, credential, input, isValid, pathId, damage, type });
    const reached = new Set<number>();
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        // Few inputs have the ids of a path by chance.
        const inPath = [...operations[sent.name].path.matchAll(/\{(\w+)\}/g)].map(
          ([, name]) => name,
        );
        const { pathId } = sent;
        // One member of a valid input is changed at a time, or there is none that is valid.
        const right = sent.isValid ? valid[sent.name] : {};
        const inputOfPath = Object.fromEntries(
          pathId === null ? [] : inPath.map((name) => [name, { id: pathId }]),
        );
        // A path and a query have no lone surrogates.
        const input = JSON.parse(given({ ...right, ...inputOfPath, ...sent.input }), (_, value) =>
          typeof value === 'string' ? value.toWellFormed() : value,
        );
        const request: Request = requestOf('REST', sent.name, input);
        const { status, headers, json } = await send(server, {
          ...request,
          authorization: credentials[sent.credential],
          ...(typeof request.body === 'string' && {
            headers: { 'content-type': sent.type },
            body: damaged(request.body, sent.damage),
          }),
        });
        expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
        expect(headers.get('cache-control')).toBe('no-store');
        check(status, json, operationMeant(sent.name, input));
        reached.add(status);
      }),
      RUNS,
    );
    expect([...reached]).toEqual(expect.arrayContaining([200, 400, 401, 404, 415]));
  });

  test('has a response of the contract as a form, and spends no code', TIMEOUT, async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret, bearer } = linked;
    const { code_verifier, code_challenge } = pkce();
    const { code } = await linked.issue({ code_challenge });
    const { grant_id, grant_secret } = await linked.link();
    // Everything that is right but the verifier.
    const rights = [
      ...['authorization_code', code, application_id, secret, grant_id, 'https://a/'],
      ...[CLIENT, JWT_BEARER, ...resources],
    ];
    const names = fc.constantFrom(
      ...['grant_type', 'code', 'redirect_uri', 'code_verifier', 'token', 'token_type_hint'],
      ...['client_id', 'client_secret', 'grant_id', '', '__proto__', 'scope', 'resource'],
      ...['client_assertion', 'client_assertion_type'],
    );
    const value = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...rights) },
      fc.string({ unit: 'grapheme', maxLength: 50 }),
    );
    const signed = assertions(CLAIMS).map((token): [string, string][] => [
      ['client_assertion_type', JWT_BEARER],
      ['client_assertion', token],
    ]);
    const known = fc.constantFrom([], Object.entries(tokenRequest(code)));
    const others = fc.array(fc.tuple(names, value), { maxLength: 8 });
    const wellFormed = fc
      .oneof(
        fc.tuple(known, others),
        // Anything else in the form would soon be the reason of its refusal.
        fc.tuple(fc.constant(Object.entries(tokenRequest(code))), signed),
      )
      .map((parts) => new URLSearchParams(parts.flat()).toString());
    const broken = fc
      .tuple(wellFormed, fc.nat(400), fc.constantFrom('%', '&', '=', '+', '%zz', ';', '\0', '"'))
      .map(([form, at, text]) => form.slice(0, at) + text + form.slice(at));
    const garbage = fc.uint8Array({ maxLength: 200 }).map((array) => new Uint8Array(array));
    const requests = fc.record({
      path: fc.constantFrom(...FORM_ROUTES),
      body: fc.oneof({ weight: 4, arbitrary: wellFormed }, broken, garbage),
      authorization: fc.constantFrom(
        ...[undefined, bearer, `Basic ${btoa(`${application_id}:${secret}`)}`, 'Basic x'],
      ),
      charset: fc.constantFrom('', ';charset=utf-8', ';charset=utf-16'),
    });
    const reached = new Set<ErrorCode>();
    await fc.assert(
      fc.asyncProperty(requests, async ({ charset, ...sent }) => {
        const headers = { 'content-type': FORM_TYPE['content-type'] + charset };
        const { status, json, text } = await send(server, { method: 'POST', headers, ...sent });
        if (status === 200) expect(sent.path).not.toBe('/oauth/token');
        else checkError(status, json, FORM);
        reached.add(json.error_code);
        for (const credential of [code, secret]) expect(text).not.toContain(credential);
      }),
      RUNS,
    );
    // Otherwise nothing could have spent the code.
    expect([...reached]).toContain('code_verifier_mismatch');
    const right = { ...tokenRequest(code), code_verifier };
    expect((await postForm(server, '/oauth/token', right, bearer)).status).toBe(200);
    const token = { token: grant_secret };
    const { json } = await postForm(server, '/oauth/introspect', token, bearer);
    expect(json.active).toBe(true);
  });
});
