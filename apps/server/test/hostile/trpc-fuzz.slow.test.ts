import {
  type ErrorCode,
  errorDefinition,
  type OperationContract,
  type OperationName,
  objects,
  operationNames,
  operations,
} from '@latchkey/schema';
import { isLong, longer } from '@latchkey/test-kit/long';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { errorsOf } from '../../src/openapi/errors.ts';
import { type HttpResponse, type Json, send } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { unknownCredential } from '../http/error-cases.ts';
import { asBasic, asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator, useServer } from '../http/running-server.ts';

/** The errors before any operation: an unknown route or a wrong method. */
const ANYWHERE: ErrorCode[] = ['route_not_found', 'method_not_allowed'];
/** The errors of an input: a body is checked for the whole batch, a GET has its input in the query. */
const INPUT: ErrorCode[] = ['body_malformed', 'body_too_large', 'media_type_unsupported'];

const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    'admin',
    'admin.',
    '.',
    '..',
    'a.b.c',
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

describeOnEachStore('the tRPC surface, fuzzed,', (fresh) => {
  const server = useServer(fresh);
  let credentials: (string | undefined)[];
  let ids: string[];
  beforeAll(async () => {
    const linked = await linkedApplication(server);
    const grant = await linked.link();
    credentials = [
      ...[linked.bearer, asBearer(grant), asBasic(grant), operator, operator, undefined],
      ...['', `Bearer ${unknownCredential('grantSecret')}`],
    ];
    ids = [linked.account_id, linked.application_id, linked.secret_id, grant.grant_id];
  });

  // Chosen by number: the credentials exist only once the server runs.
  const members = fc.dictionary(
    fc.constantFrom(
      ...['code', 'grant_id', 'application_id', 'account_id', 'secret_id', 'name', 'username'],
      ...['scope', 'limit', 'cursor', 'expires_at', 'twitter', '__proto__', 'constructor'],
    ),
    fc.oneof(
      { weight: 3, arbitrary: fc.nat({ max: 3 }).map((id) => ({ id })) },
      { weight: 2, arbitrary: anyText },
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
  const given = (json: unknown) =>
    JSON.stringify(json, (_, value) =>
      typeof value?.id === 'number' && Object.keys(value).length === 1 ? ids[value.id] : value,
    ) ?? '';
  const requests = fc.record({
    call: methodAndNames,
    batch,
    credential: fc.nat({ max: 7 }),
    input: inputs,
    /** How the input is sent: nearly always complete and in the right place. */
    damage: fc.constantFrom('none', 'none', 'none', 'none', 'cut', 'missing', 'misplaced', 'huge'),
    type: fc.constantFrom(
      ...Array(3).fill('application/json'),
      'text/plain',
      'application/json;charset=x',
    ),
  });

  type Sent = typeof requests extends fc.Arbitrary<infer Value> ? Value : never;

  async function call({
    call: [method, names],
    batch,
    credential,
    input,
    damage,
    type,
  }: Sent): Promise<HttpResponse> {
    const whole = given(input);
    const text =
      { cut: whole.slice(0, -1), missing: '', huge: whole.padEnd(17_000) }[damage as 'cut'] ??
      whole;
    const takesBody =
      (method === 'POST') !== (damage === 'misplaced') && !['GET', 'HEAD'].includes(method);
    const query =
      takesBody || damage === 'huge' ? '' : `&input=${encodeURIComponent(text.toWellFormed())}`;
    return send(server, {
      method,
      path: `/trpc/${names}?${batch}${query}`,
      authorization: credentials[credential],
      ...(takesBody && { headers: { 'content-type': type }, body: text }),
    });
  }

  /** Checks one result or error against the contract of its procedure. */
  function check(item: Json, name: string | undefined): number {
    const operation: OperationContract | undefined =
      name !== undefined && Object.hasOwn(operations, name)
        ? operations[name as OperationName]
        : undefined;
    if (item.error === undefined) {
      expect(operation).toBeDefined();
      expect(operation?.output.parse(item.result.data)).toEqual(item.result.data);
      return 200;
    }
    const { code: _code, path: _path, httpStatus, ...body } = item.error.data;
    expect(objects.errorBody.parse(body)).toEqual(body);
    const documented = operation ? [...errorsOf(operation), ...INPUT] : [];
    expect([...documented, ...ANYWHERE]).toContain(body.error_code);
    expect(['internal_error', 'store_unavailable', 'outcome_unknown']).not.toContain(
      body.error_code,
    );
    expect(errorDefinition(body.error_code).status).toBe(httpStatus);
    return httpStatus;
  }

  test('responds to each call as documented', { timeout: longer(300_000, 1_800_000) }, async () => {
    const reached = new Set<number>();
    await fc.assert(
      fc.asyncProperty(requests, async (sent) => {
        const { status, headers, json } = await call(sent);
        expect(headers.get('content-type')).toBe('application/json; charset=UTF-8');
        expect(headers.get('cache-control')).toBe('no-store');
        const [method, names] = sent.call;
        if (method === 'HEAD') return;
        const batched = /^batch=1(&|$)/.test(sent.batch);
        const called = decodeURIComponent(names);
        const calls = batched ? called.split(',') : [called];
        expect(Array.isArray(json)).toBe(batched);
        const items: Json[] = batched ? json : [json];
        expect(items).toHaveLength(calls.length);
        const statuses = new Set(items.map((item, index) => check(item, calls[index])));
        for (const each of statuses) reached.add(each);
        expect(status).toBe(statuses.size === 1 ? [...statuses][0] : 207);
      }),
      // The same calls every day, others every night.
      isLong ? { numRuns: 20_000 } : { numRuns: 400, seed: 1 },
    );
    // Otherwise the run has tested nothing: some calls succeed, and some fail at each step.
    expect([...reached]).toEqual(expect.arrayContaining([200, 400, 401, 404, 405, 415]));
    const failures = server.lines
      .map((line) => JSON.parse(line))
      // A fuzz run is a flood: the service may drop some of its refusals.
      .filter(({ level, msg }) => level >= 40 && !msg.startsWith('too many refusals'));
    expect(failures).toEqual([]);
  });
});
