import { type Reason, reasons } from '@latchkey/domain/reasons';
import { type ErrorCode, type OperationName, operationNames, operations } from '@latchkey/schema';
import { JSON_TYPE, type Request, requestOf, type Wire } from '../http/call.ts';
import type { LinkedApplication } from '../http/linked-application.ts';
import { operator, type ServerWithDatabase } from '../http/running-server.ts';
import { callerFaults } from './callers.ts';
import { type Arrange, contextOf, type Faults, type RefusedCall } from './case.ts';
import { cases } from './cases.ts';

/** A way to cause an error, over either wire. */
export interface ErrorCase {
  name: OperationName;
  code: ErrorCode;
  when: string;
  /** Where the code has several. */
  reason: Reason | null;
  /** Headers beyond those of every response with this code. */
  headers?: Record<string, string>;
  /** Prepares the error. Returns the request that causes it and the extra members of the error. */
  arrange(context: { server: ServerWithDatabase; wire: Wire; linked: LinkedApplication }): Promise<{
    request: Request;
    members?: RefusedCall['members'];
  }>;
}

const casesOf = (name: OperationName, faults: Partial<Record<ErrorCode, Faults>>): ErrorCase[] =>
  Object.entries(faults).flatMap(([code, ways]) =>
    Object.entries(ways).flatMap(([when, arranges]) =>
      [arranges].flat().map((arrange, index) => ({
        ...{ name, code: code as ErrorCode, when: index === 0 ? when : `${when} (${index + 1})` },
        reason: when in reasons ? (when as Reason) : null,
        arrange: onOperation(name, arrange),
      })),
    ),
  );

const onOperation =
  (name: OperationName, arrange: Arrange): ErrorCase['arrange'] =>
  async ({ server, wire, linked }) => {
    const refused = await arrange(contextOf(server, linked));
    const own = operations[name].caller === 'operator' ? operator : linked.bearer;
    const authorization = 'as' in refused ? refused.as : own;
    const { input = {}, members } = refused;
    return {
      request: { ...requestOf(wire, name, input), authorization },
      ...(members && { members }),
    };
  };

/** What is refused of a request before its input is read. */
function ofRequest(
  code: ErrorCode,
  when: string,
  change: (request: Request, wire: Wire) => Partial<Request>,
  {
    name = 'grants.convert',
    headers = {},
  }: { name?: OperationName; headers?: Record<string, string> } = {},
): ErrorCase {
  return {
    ...{ name, code, when, reason: null, headers },
    async arrange({ wire, linked }) {
      const request = {
        ...requestOf(wire, name),
        authorization: linked.bearer,
        headers: JSON_TYPE,
      };
      return { request: { ...request, ...change(request, wire) } };
    },
  };
}

const bodies = ['', '{', 'null', '[]', '"text"', '42', '{"code":"x"', '\ufeff\ufeff{"code":"x"}'];

const requestCases: ErrorCase[] = [
  ...bodies.map((body) =>
    ofRequest('body_malformed', `the body is ${JSON.stringify(body)}`, () => ({ body })),
  ),
  ofRequest('media_type_unsupported', 'the body is text', () => ({
    ...{ headers: { 'content-type': 'text/plain' }, body: '{"code":"x"}' },
  })),
  ofRequest('body_too_large', 'the body has one byte more than 16 KiB', () => ({
    body: `{"code":"${'x'.repeat(16 * 1024 + 1 - 11)}"}`,
  })),
  ofRequest('route_not_found', 'there is no such path', (_, wire) => ({
    ...{ path: wire === 'REST' ? '/oauth/convert/' : '/trpc/grants.Convert', body: undefined },
  })),
  ofRequest(
    ...(['method_not_allowed', 'a mutation is called by GET'] as const),
    () => ({ method: 'GET', body: undefined }),
    { headers: { allow: 'POST' } },
  ),
  ofRequest('method_not_allowed', 'a query is called by POST', () => ({ method: 'POST' }), {
    ...{ name: 'account.get', headers: { allow: 'GET, HEAD' } },
  }),
];

const ofOperations = (needsLinking: boolean): ErrorCase[] =>
  operationNames
    .filter((name) => {
      const operation = operations[name];
      return ('needsLinking' in operation || 'needsDocuments' in operation) === needsLinking;
    })
    .flatMap((name) => casesOf(name, cases[name].faults ?? {}));

/** Every fault of a request, of its caller, and of each operation but the next ones. */
export const errorCases: ErrorCase[] = [
  ...requestCases,
  ...callerFaults.flatMap(([name, faults]) => casesOf(name, faults)),
  ...ofOperations(false),
];

/** The faults of the operations that are only there with the linking flow. */
export const linkingErrorCases: ErrorCase[] = ofOperations(true);
