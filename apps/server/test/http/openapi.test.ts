import {
  errorCodes,
  errorDefinition,
  type OperationContract,
  objects,
  operations,
} from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { headersOf, type Json, send } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { useServer } from './running-server.ts';

/** Every `$ref` in a document. */
function references(node: Json): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [value as string] : references(value),
  );
}

/** What a reference within a document names; undefined where it names nothing. */
const resolve = (document: Json, reference: string): Json =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((node, key) => node?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);

describeOnEachStore('/openapi.json', (fresh) => {
  const server = useServer(fresh);
  let document: Json;
  beforeAll(async () => {
    const answer = await send(server, { method: 'GET', path: '/openapi.json' });
    expect(answer.status).toBe(200);
    expect(headersOf(answer)).toMatchObject({
      'content-type': 'application/json; charset=UTF-8',
      'cache-control': 'no-store',
    });
    document = answer.json;
  });

  test('is a document of OpenAPI 3.1 that says where it is served', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Latchkey', version: expect.any(String) });
    expect(document.servers).toEqual([{ url: server.url }]);
    const allowed = ['openapi', 'info', 'servers', 'tags', 'paths', 'components'];
    expect(Object.keys(document).filter((key) => !allowed.includes(key))).toEqual([]);
  });

  test('has every operation once, and no other', () => {
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    const expected = Object.entries<OperationContract>(operations).map(
      ([name, { method, path }]) => `${name} ${method} ${path}`,
    );
    expect(described.sort()).toEqual(expected.sort());
  });

  test('refers to nothing that is not in it', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(20);
    for (const reference of all) {
      expect(reference).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(resolve(document, reference), reference).toBeTypeOf('object');
    }
  });

  test.each(Object.entries<OperationContract>(operations))('describes %s', (_, operation) => {
    const { method, path, errors, caller } = operation;
    const described = document.paths[path][method.toLowerCase()];
    expect(described.summary).not.toBe('');

    const inPath = described.parameters.filter((parameter: Json) => parameter.in === 'path');
    expect(inPath.map(({ name }: Json) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const { required, schema } of inPath) {
      expect([required, schema.format]).toEqual([true, 'uuid']);
    }
    if (method === 'GET') expect(described.requestBody).toBeUndefined();

    const schemes = described.security.flatMap(Object.keys);
    expect(schemes).toEqual(
      {
        application: ['applicationSecret'],
        grant: ['grantSecret', 'grantIdAndSecret'],
        operator: ['adminSecret'],
      }[caller],
    );
    for (const scheme of schemes) {
      expect(document.components.securitySchemes[scheme].type).toBe('http');
    }

    const success = described.responses[200].content['application/json'].schema.$ref;
    const schema = resolve(document, success);
    expect(schema.type).toBe('object');
    expect(schema.required).toEqual(Object.keys(schema.properties));

    // Every error of its own, and those that any operation of its kind can answer.
    const listed = Object.entries<Json>(described.responses).flatMap(([status, response]) =>
      Object.entries<Json>(response.content['application/json'].examples ?? {}).map(
        ([code, { value }]) => {
          expect(objects.errorBody.parse(value)).toEqual(value);
          expect([value.error_code, Number(status)]).toEqual([
            code,
            errorDefinition(value.error_code).status,
          ]);
          return code;
        },
      ),
    );
    const expected = new Set([
      ...errors,
      'credentials_missing',
      'credentials_invalid',
      'rate_limited',
      'store_unavailable',
      'internal_error',
      ...(method === 'GET' ? [] : ['body_malformed', 'body_too_large', 'media_type_unsupported']),
    ]);
    expect(listed).toEqual(expect.arrayContaining([...expected]));
    expect(listed.filter((code) => !(errorCodes as string[]).includes(code))).toEqual([]);
    expect(Object.keys(described.responses[429].headers)).toEqual([
      'X-Request-Id',
      'Retry-After',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
    ]);
    // A write whose answer gets lost: the first use of a grant is one too.
    expect(listed.includes('outcome_unknown')).toBe(method !== 'GET' || caller === 'grant');
  });

  // The schemas of the document let members through that they do not name; those of the operations
  // drop them.
  test.each(Object.entries<OperationContract>(operations))(
    'has a real example of %s',
    (_, operation) => {
      const { parameters, requestBody, responses } =
        document.paths[operation.path][operation.method.toLowerCase()];
      const given = parameters.filter((parameter: Json) => 'example' in parameter);
      const input = {
        ...Object.fromEntries(given.map(({ name, example }: Json) => [name, example])),
        ...requestBody?.content['application/json'].example,
      };
      expect(operation.input.parse(input)).toMatchObject(input);

      const { example } = responses[200].content['application/json'];
      expect(operation.output.parse(example)).toStrictEqual(example);
      // They go into a header, where somebody tries them out.
      const credentials =
        JSON.stringify([input, example]).match(/lk_(?:app|code|grant)_\w+/g) ?? [];
      for (const credential of credentials) expect(credential).toMatch(/_[0-9A-Za-z]{71}$/);
    },
  );

  test('has nothing that breaks a client made of it', () => {
    const members = new Set<string>();
    JSON.stringify(document, (key, value) => {
      members.add(key);
      if (key === 'pattern') {
        // RE2 and Rust, which compile the patterns of Go and of pydantic, know no \\u and no
        // look-around. They count in characters, which is the u flag here.
        expect(() => new RegExp(value, 'u')).not.toThrow();
        expect(value).not.toMatch(/\\u|\(\?[=!<]/);
      }
      return value;
    });
    expect(members).toContain('pattern');
    // Answers may get new members.
    expect(members).not.toContain('additionalProperties');
  });

  test('follows PUBLIC_URL or the host that was called', async () => {
    const headers = { 'x-forwarded-host': 'evil.example' };
    const { json } = await send(server, { method: 'GET', path: '/openapi.json', headers });
    expect(json.servers).toEqual([{ url: server.url }]);
  });
});
