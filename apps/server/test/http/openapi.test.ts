import {
  CREDENTIAL_RANDOM_BYTES,
  type CredentialKind,
  credentialPrefixes,
  errorCodes,
  errorDefinition,
  formatCredential,
  type OperationContract,
  objects,
  operations,
  parseCredential,
} from '@latchkey/schema';
import { beforeAll, expect, test } from 'vitest';
import { headersOf, type Json, send } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { useServer } from './running-server.ts';

/** Every `$ref` in a document. */
function references(node: Json): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === '$ref' ? [value as string] : references(value),
  );
}

/** The example of an operation, also if another one shares its route. */
const exampleIn = (content: Json, name: string): Json =>
  content?.example ?? content?.examples?.[name]?.value;

/** The part of a document that a reference names; undefined if there is none. */
const resolve = (document: Json, reference: string): Json =>
  reference
    .replace(/^#\//, '')
    .split('/')
    .reduce((node, key) => node?.[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);

/** Whether the random bytes of a credential are zero, but for the last one of sixteen. */
function nearlyZero(credential: string): boolean {
  const [kind] = Object.entries(credentialPrefixes).find(([, prefix]) =>
    credential.startsWith(prefix),
  ) ?? [''];
  return Array.from({ length: 256 }, (_, last) =>
    Uint8Array.from({ length: CREDENTIAL_RANDOM_BYTES }, (_, i) => (i % 16 === 15 ? last : 0)),
  ).some((bytes) => {
    if (kind === '') return credential === `whsec_${Buffer.from(bytes).toString('base64')}`;
    const id = parseCredential(kind as CredentialKind, credential) ?? '';
    return formatCredential(kind as CredentialKind, id, bytes) === credential;
  });
}

describeOnAnyStore('/openapi.json', (fresh) => {
  const server = useServer(fresh);
  let document: Json;
  beforeAll(async () => {
    const response = await send(server, { method: 'GET', path: '/openapi.json' });
    expect(response.status).toBe(200);
    expect(headersOf(response)).toMatchObject({
      'content-type': 'application/json; charset=UTF-8',
      'cache-control': 'no-store',
    });
    document = response.json;
  });

  test('is an OpenAPI 3.1 document with the URL of its server', () => {
    expect(document.openapi).toMatch(/^3\.1\.\d$/);
    expect(document.info).toMatchObject({ title: 'Latchkey', version: expect.any(String) });
    expect(document.servers).toEqual([{ url: server.url }]);
    const allowed = ['openapi', 'info', 'servers', 'tags', 'paths', 'components'];
    expect(Object.keys(document).filter((key) => !allowed.includes(key))).toEqual([]);
  });

  test('has every operation once, and the routes of OAuth beside them', () => {
    const described = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
      Object.entries<Json>(methods).map(
        ([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`,
      ),
    );
    const expected = Object.entries<OperationContract>(operations)
      // Shares its route with grants.revoke.
      .filter(([name]) => name !== 'grants.revokeToken')
      .map(([name, { method, path }]) => `${name} ${method} ${path}`);
    const oauth = [
      'links.begin GET /oauth/authorize',
      'oauth.token POST /oauth/token',
      'metadata.server GET /.well-known/oauth-authorization-server',
      'metadata.resource GET /.well-known/oauth-protected-resource/v1',
      'clients.register POST /oauth/register',
      'clients.get GET /oauth/clients/{document}',
    ];
    expect(described.sort()).toEqual([...expected, ...oauth].sort());
  });

  test('has no dangling reference', () => {
    const all = references(document);
    expect(all.length).toBeGreaterThan(20);
    for (const reference of all) {
      expect(reference).toMatch(/^#\/components\/schemas\/\w+$/);
      expect(resolve(document, reference), reference).toBeTypeOf('object');
    }
  });

  test.each(Object.entries<OperationContract>(operations))('describes %s', (name, operation) => {
    const { method, path, errors, caller, roles } = operation;
    const takesForm = path === '/oauth/revoke' || path === '/oauth/introspect';
    const described = document.paths[path][method.toLowerCase()];
    expect(described['x-latchkey-roles']).toEqual(roles);
    expect(described.summary).not.toBe('');

    const inPath = described.parameters.filter((parameter: Json) => parameter.in === 'path');
    expect(inPath.map(({ name }: Json) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? []);
    for (const { name, required, schema } of inPath) {
      expect([required, schema.format]).toEqual([true, name === 'scope' ? undefined : 'uuid']);
    }
    if (method === 'GET') expect(described.requestBody).toBeUndefined();

    const schemes = described.security.flatMap(Object.keys);
    const types = Object.keys(described.requestBody?.content ?? {});
    expect(types.includes('application/x-www-form-urlencoded')).toBe(takesForm);
    expect(schemes).toEqual(
      {
        application: [...(takesForm ? ['applicationIdAndSecret'] : []), 'applicationSecret'],
        grant: ['grantSecret', 'grantIdAndSecret'],
        operator: ['adminSecret'],
      }[caller],
    );
    for (const scheme of schemes) {
      expect(document.components.securitySchemes[scheme].type).toBe('http');
    }

    for (const schema of successesOf(described)) {
      expect(schema.type).toBe('object');
      const optional = name === 'admin.applications.create' ? ['secret'] : [];
      const members = Object.keys(schema.properties).filter((member) => !optional.includes(member));
      expect(schema.required ?? []).toEqual(members);
    }

    // Its own errors, and those of every operation of its kind.
    const { 200: _success, ...failures } = described.responses;
    const listed = Object.entries<Json>(failures).flatMap(([status, response]) =>
      Object.entries<Json>(response.content['application/json'].examples ?? {}).map(
        ([code, { value }]) => {
          expect(objects.errorBody.parse(value)).toEqual(value);
          expect([value.error_code, Number(status)]).toEqual([
            code,
            errorDefinition(value.error_code).status,
          ]);
          // The grant of an unknown outcome is known to few.
          const { members = [] } = errorDefinition(value.error_code);
          if (code !== 'outcome_unknown')
            for (const has of members) expect(value).toHaveProperty(has);
          return code;
        },
      ),
    );
    const expected = new Set([
      ...errors,
      'credentials_missing',
      'credentials_invalid',
      ...(caller === 'operator' ? [] : ['application_disabled']),
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
    // Every write can have an unknown outcome. The first use of a grant is a write too.
    expect(listed.includes('outcome_unknown')).toBe(method !== 'GET' || caller === 'grant');
  });

  /** The schemas of the result: several if operations share a route, or if it has several forms. */
  function successesOf(described: Json): Json[] {
    const { schema } = described.responses[200].content['application/json'];
    const flat = ({ anyOf, $ref, ...other }: Json): Json[] => {
      if (anyOf !== undefined) return anyOf.flatMap(flat);
      return $ref === undefined ? [other] : flat(resolve(document, $ref));
    };
    return flat(schema);
  }

  // The schemas of the document allow unknown members. Those of the operations drop them, so they
  // show whether an example has one.
  test.each(Object.entries<OperationContract>(operations))(
    'has a real example of %s',
    (name, operation) => {
      const { parameters, requestBody, responses } =
        document.paths[operation.path][operation.method.toLowerCase()];
      const given = parameters.filter((parameter: Json) => 'example' in parameter);
      const input = {
        ...Object.fromEntries(given.map(({ name, example }: Json) => [name, example])),
        ...exampleIn(requestBody?.content['application/json'], name),
      };
      expect(operation.input.parse(input)).toMatchObject(input);

      const example = exampleIn(responses[200].content['application/json'], name);
      expect(operation.output.parse(example)).toStrictEqual(example);
      // Whoever tries out an operation sends them in a header.
      const credentials =
        JSON.stringify([input, example]).match(/lk_(?:app|code|grant|link|ticket)_\w+/g) ?? [];
      for (const credential of credentials) expect(credential).toMatch(/_[0-9A-Za-z]{71}$/);
    },
  );

  test('has no credential in its examples that anybody could have got', () => {
    const found = JSON.stringify(document).match(/lk_[a-z]+_\w{71}|whsec_[\w+/]{43}=/g) ?? [];
    expect(found.length).toBeGreaterThan(10);
    for (const credential of found) expect(nearlyZero(credential), credential).toBe(true);
  });

  test('has nothing that breaks a generated client', () => {
    const members = new Set<string>();
    JSON.stringify(document, (key, value) => {
      members.add(key);
      if (key === 'pattern') {
        // RE2 and Rust compile the patterns of Go and of pydantic. They have no \\u and no look-around,
        // and they count characters, as the u flag does here.
        expect(() => new RegExp(value, 'u')).not.toThrow();
        expect(value).not.toMatch(/\\u|\(\?[=!<]/);
      }
      return value;
    });
    expect(members).toContain('pattern');
    // For a union without a name, the client of oapi-codegen sends `{}`.
    for (const { requestBody } of Object.values<Json>(document.paths).flatMap<Json>(
      Object.values,
    )) {
      expect(requestBody?.content['application/json'].schema ?? {}).not.toHaveProperty('anyOf');
    }
    // A later version may add members to a response.
    expect(JSON.stringify(document.components)).not.toContain('"additionalProperties":false');
  });

  test('has no unknown members in what an operator sends, and only there', () => {
    for (const { path, method, caller } of Object.values<OperationContract>(operations)) {
      const { requestBody } = document.paths[path][method.toLowerCase()];
      if (requestBody === undefined) continue;
      const { schema } = requestBody.content['application/json'];
      expect(schema.additionalProperties).toBe(caller === 'operator' ? false : undefined);
    }
  });

  test('has PUBLIC_URL or the host of the request as its server', async () => {
    const headers = { 'x-forwarded-host': 'evil.example' };
    const { json } = await send(server, { method: 'GET', path: '/openapi.json', headers });
    expect(json.servers).toEqual([{ url: server.url }]);
  });
});
