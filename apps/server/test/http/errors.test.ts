import {
  type ErrorCode,
  errorCodes,
  errorDefinition,
  objects,
  parseCredential,
} from '@latchkey/schema';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { expect, test } from 'vitest';
import { linkingErrorCases } from '../linking/error-cases.ts';
import { LINKING } from '../linking/link-flow.ts';
import { headersOf, requestOf, send, unwrapped, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { type ErrorCase, errorCases } from './error-cases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { EVENTS, type ServerWithDatabase, startTestServer, useServer } from './running-server.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const TRPC_CODES = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  // tRPC has no word of its own for it.
  410: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
} as const;

// These are tested elsewhere: the first needs a database that fails in the middle of a write, the
// second one that can't be reached, the third a batch (`trpc-batches.test.ts`), the fourth a server
// that shuts down, the fifth the words of OAuth (`token.test.ts`). `store_full` needs a
// full disk (`linking/store-full.test.ts`), and those of client documents another server
// (`client-documents/flow.test.ts`). The rest are told to browsers
// (`linking/reasons.test.ts`, `linking/authorize.test.ts`).
const ELSEWHERE = [
  'outcome_unknown',
  'store_unavailable',
  'store_full',
  'batch_too_large',
  'shutting_down',
  'grant_type_unsupported',
  'client_unknown',
  'client_document_invalid',
  'client_document_unavailable',
  'client_keys_unavailable',
  'application_documented',
  'redirect_uri_unregistered',
  'state_invalid',
  'response_type_unsupported',
  'challenge_required',
  'access_denied',
  'cookies_refused',
  'page_expired',
  'prefetch_refused',
  'form_rejected',
];

test('every error code has a case', () => {
  const cases = [...errorCases, ...linkingErrorCases];
  const covered = new Set<string>([...cases.map(({ code }) => code), ...ELSEWHERE]);
  expect(errorCodes.filter((code) => !covered.has(code))).toEqual([]);
});

describeOnAnyStore('the error table', (fresh) => {
  const server = useServer(fresh, { RATE_LIMIT: 'exchanges=1/60', ...EVENTS });
  testEach(errorCases, server, () => server.url);
});

describeOnAnyStore('the error table of the linking flow', (fresh) => {
  testEach(linkingErrorCases, useServer(fresh, LINKING), () => LINKING.PUBLIC_URL);
});

/** Of several parameters, the first is named. */
function descriptionOf(code: ErrorCode, json: object): string {
  const { description } = errorDefinition(code);
  if (code !== 'parameter_invalid') return description;
  const [, path, message] = /"issues":\[\{"path":\["(\w+)"\],"message":"([^"]*?)\.?"/.exec(
    JSON.stringify(json),
  ) as RegExpExecArray;
  return `${path}: ${message}. ${description}`;
}

/** @param base - that of error_uri */
function testEach(cases: ErrorCase[], server: ServerWithDatabase, base: () => string): void {
  for (const wire of wires) {
    // Every case has an application of its own.
    test.each(cases)(`over ${wire}: $code if $when`, async (row) => {
      const linked = await linkedApplication(server);
      const { request, members } = await row.arrange({ server, wire, linked });
      const response = await send(server, request);

      const request_id = response.headers.get('x-request-id') ?? '';
      expect(request_id).toMatch(UUID_V7);
      const body = {
        error: row.error,
        error_description: descriptionOf(row.code, response.json),
        error_code: row.code,
        error_uri: `${base()}/docs/errors#${row.code}`,
        request_id,
        ...(typeof members === 'function' ? members(request_id) : members),
      };
      expect(unwrapped(wire, response.json)).toStrictEqual(body);
      expect(objects.errorBody.parse(body)).toStrictEqual(body);
      expect(response.status).toBe(row.status);
      expect(headersOf(response)).toStrictEqual({
        'content-type': 'application/json; charset=UTF-8',
        'cache-control': 'no-store',
        'x-request-id': request_id,
        ...row.headers,
      });
      if (wire === 'REST') return;

      const path = decodeURIComponent(request.path.slice('/trpc/'.length).replace(/\?.*/, ''));
      const code = TRPC_CODES[row.status as keyof typeof TRPC_CODES];
      expect(response.json).toStrictEqual({
        error: {
          message: body.error_description,
          code: TRPC_ERROR_CODES_BY_KEY[code],
          data: { ...body, code, httpStatus: row.status, path },
        },
      });
    });
  }
}

describeOnAnyStore('the base of error_uri', (fresh) => {
  const server = useServer(fresh);
  const elsewhere = (environment: NodeJS.ProcessEnv) =>
    startTestServer(server.database.url, environment);

  test.each(wires)('is PUBLIC_URL over %s', async (wire) => {
    const configured = await elsewhere({ PUBLIC_URL: 'https://link.example.com/base/' });
    const response = await send(configured, requestOf(wire, 'account.get'));
    expect(unwrapped(wire, response.json).error_uri).toBe(
      'https://link.example.com/base/docs/errors#credentials_missing',
    );
    await configured.close();
  });

  test('comes from a trusted proxy; without one, the client can’t set it', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'link.example.com' };
    const request = { ...requestOf('REST', 'account.get'), headers };
    const behind = await elsewhere({ TRUST_PROXY: 'true' });
    expect((await send(behind, request)).json.error_uri).toBe(
      'https://link.example.com/docs/errors#credentials_missing',
    );
    await behind.close();
    expect((await send(server, request)).json.error_uri).toBe(
      `${server.url}/docs/errors#credentials_missing`,
    );
  });
});

describeOnAnyStore('code_not_found', (fresh) => {
  const server = useServer(fresh);

  test('has the same bytes for every such code, except request_id', async () => {
    const linked: LinkedApplication = await linkedApplication(server);
    const rows = errorCases.filter(({ code }) => code === 'code_not_found');
    const responses = await Promise.all(
      rows.map(async ({ arrange }) => {
        const { request } = await arrange({ server, wire: 'REST', linked });
        const { text, json, headers } = await send(server, request);
        return [text.replace(json.request_id, ''), headers.get('content-length')].join();
      }),
    );
    expect(responses.length).toBeGreaterThan(3);
    expect(new Set(responses).size).toBe(1);
  });
});

describeOnAnyStore('internal_error', (fresh) => {
  const server = useServer(fresh);

  test.each(wires)('over %s has its detail only in the log', async (wire) => {
    const linked = await linkedApplication(server);
    const row = errorCases.find(({ code }) => code === 'internal_error');
    if (row === undefined) throw new Error('There is no case of it.');
    const { request } = await row.arrange({ server, wire, linked });
    const { text, headers } = await send(server, request);
    expect(text).not.toContain(linked.account_id);
    expect(text).not.toContain('gone');
    expect(text).not.toContain('stack');

    const [line = '{}'] = server.lines.filter((candidate) => candidate.includes('is gone'));
    server.lines.length = 0;
    const { level, request_id, error_code, err } = JSON.parse(line);
    const grant_id = parseCredential('grantSecret', request.authorization?.split(' ')[1] ?? '');
    expect({ level, request_id, error_code, message: err.message }).toEqual({
      level: 50,
      request_id: headers.get('x-request-id'),
      error_code: 'internal_error',
      message: `The account of the grant ${grant_id} is gone from the store.`,
    });
  });
});
