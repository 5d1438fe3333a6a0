import { reasons } from '@latchkey/domain/reasons';
import {
  type ErrorCode,
  errorCodes,
  errorDefinition,
  objects,
  operations,
  parseCredential,
} from '@latchkey/schema';
import { TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { expect, test } from 'vitest';
import { type ErrorCase, errorCases, linkingErrorCases } from '../cases/errors.ts';
import { DOCUMENTS } from '../cases/world.ts';
import { LINKING } from '../linking/link-flow.ts';
import { linkingReasonCases } from '../linking/reason-cases.ts';
import { headersOf, requestOf, send, unwrapped, wires } from './call.ts';
import { describeOnAnyStore, type FreshDatabase } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { refusalsOf } from './refusals-of.ts';
import { EVENTS, startTestServer, useServer } from './running-server.ts';

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
// full disk (`linking/store-full.test.ts`), those of client documents need another server
// (`client-documents/flow.test.ts`), and those of registrations a setting
// (`client-documents/registered.test.ts`). The rest are told to browsers
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
  'registration_invalid',
  'registration_redirect_refused',
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

const CHALLENGE = 'Bearer realm="latchkey"';
/** The headers beyond those of every response. */
const HEADERS: Partial<Record<ErrorCode, Record<string, string>>> = {
  credentials_missing: { 'www-authenticate': CHALLENGE },
  credentials_invalid: { 'www-authenticate': `${CHALLENGE}, error="invalid_token"` },
  rate_limited: {
    ...{ 'retry-after': '60', 'ratelimit-limit': '1' },
    ...{ 'ratelimit-remaining': '0', 'ratelimit-reset': '60' },
  },
};

const allCases = [...errorCases, ...linkingErrorCases];

test('every error code has a case', () => {
  const covered = new Set<string>([...allCases.map(({ code }) => code), ...ELSEWHERE]);
  expect(errorCodes.filter((code) => !covered.has(code))).toEqual([]);
});

test('every reason of a rule has a case', () => {
  // Limits are in `rate-limits.test.ts`: each takes a server with its own numbers. Two Authorization
  // headers take a raw connection: `hostile/framing.test.ts`. A log that fails takes a process:
  // `faults/log-sinks.test.ts`. OAuth clients take a form: `client-authentication.test.ts`. Client
  // documents are in `client-documents/flow.test.ts`.
  const elsewhere =
    /^(too_many|document|assertion)_|^(header_repeated|log_failing|client_id_.*|secret_required|client_address_not_taken|client_host_too_long)$/;
  const covered = new Set<string>(allCases.map(({ reason }) => reason ?? ''));
  const all = Object.keys(reasons).filter((reason) => !(reason in linkingReasonCases));
  expect(all.filter((reason) => !covered.has(reason) && !elsewhere.test(reason))).toEqual([]);
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

describeOnAnyStore('the error table', (fresh) => {
  testEach(errorCases, fresh, { RATE_LIMIT: 'exchanges=1/60', ...EVENTS });
});

describeOnAnyStore('the error table of the linking flow', (fresh) => {
  testEach(linkingErrorCases, fresh, { ...LINKING, ...DOCUMENTS });
});

describeOnAnyStore('a refusal', (fresh) => {
  const server = useServer(fresh);

  test('tells operators no reason where the error code has only one', async () => {
    const { bearer } = await linkedApplication(server);
    const request = requestOf('REST', 'grants.revoke', { grant_id: '7' });
    const { headers } = await send(server, { ...request, authorization: bearer });
    await server.service.audit.flush();
    const { title, help } = errorDefinition('parameter_invalid');
    expect(await refusalsOf(server.service, headers.get('x-request-id') ?? '')).toMatchObject([
      { error_code: 'parameter_invalid', reason: null, found: `${title}.`, advice: help },
    ]);
  });
});

function testEach(cases: ErrorCase[], fresh: FreshDatabase, environment: NodeJS.ProcessEnv): void {
  /** The bytes of the first response of a kind, without what is of its request alone. */
  const bytes = new Map<string, string>();

  for (const wire of wires) {
    // The service keeps only so many refusals at once: those of a wire.
    const server = useServer(fresh, environment);

    // Every case has an application of its own.
    test.each(cases)(`over ${wire}: $code of $name if $when`, async (row) => {
      const { name, code, reason } = row;
      const linked = await linkedApplication(server);
      const { request, members } = await row.arrange({ server, wire, linked });
      const response = await send(server, request);

      const request_id = response.headers.get('x-request-id') ?? '';
      expect(request_id).toMatch(UUID_V7);
      const { status, error } = errorDefinition(code);
      const isOfGrant = operations[name].caller === 'grant' && status === 401;
      const body = {
        error: isOfGrant ? 'invalid_token' : error,
        error_description: descriptionOf(code, response.json),
        error_code: code,
        error_uri: `${environment.PUBLIC_URL ?? server.url}/docs/errors#${code}`,
        request_id,
        ...(typeof members === 'function' ? members(request_id) : members),
      };
      expect(unwrapped(wire, response.json)).toStrictEqual(body);
      expect(objects.errorBody.parse(body)).toStrictEqual(body);
      expect(response.status).toBe(status);
      expect(headersOf(response)).toStrictEqual({
        'content-type': 'application/json; charset=UTF-8',
        'cache-control': 'no-store',
        'x-request-id': request_id,
        ...{ ...HEADERS[code], ...row.headers },
      });
      if (reason !== null) {
        // Members are of the case alone.
        if (!members) {
          const length = response.headers.get('content-length');
          const kind = [wire, code, name].join(' ');
          const own = [response.text.replaceAll(request_id, ''), length].join(' ');
          expect(bytes.get(kind) ?? own).toBe(own);
          bytes.set(kind, own);
        }
        // A reason that is its code's only one may have its name.
        if (reason !== code) expect(response.text).not.toContain(reason);
        await server.service.audit.flush();
        const { found, advice } = reasons[reason];
        expect(await refusalsOf(server.service, request_id)).toMatchObject([
          { request_id, operation: name, error_code: code, reason, found, advice },
        ]);
      }
      if (wire === 'REST') return;

      const path = decodeURIComponent(request.path.slice('/trpc/'.length).replace(/\?.*/, ''));
      const trpcCode = TRPC_CODES[status as keyof typeof TRPC_CODES];
      expect(response.json).toStrictEqual({
        error: {
          message: body.error_description,
          code: TRPC_ERROR_CODES_BY_KEY[trpcCode],
          data: { ...body, code: trpcCode, httpStatus: status, path },
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
