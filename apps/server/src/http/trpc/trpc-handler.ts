import { decodeJson } from '@latchkey/domain/decode-json';
import { DomainError } from '@latchkey/domain/domain-error';
import { percentDecode } from '@latchkey/rules/percent-decode';
import { credentialPattern, errorDefinition } from '@latchkey/schema';
import { callTRPCProcedure, TRPCError } from '@trpc/server';
import type { Logger } from 'pino';
import { ZodError } from 'zod';
import { type CallContext, ClientGone, call } from '../../operations/call.ts';
import type { AnyCaller } from '../../operations/caller.ts';
import { inputShape, parameterInvalid } from '../../operations/input.ts';
import type { Operation } from '../../operations/operation.ts';
import { StreamedOutput } from '../../operations/streamed-output.ts';
import type { Authenticate } from '../authenticate.ts';
import { jsonMembers, readJson } from '../body.ts';
import { errorHeaders, reportFailure } from '../error-response.ts';
import type { Headers, RequestContext, RequestedCall } from '../request-context.ts';
import { sendJson, sendPieces } from '../response.ts';
import { MethodNotAllowed } from '../router.ts';
import { errorEnvelope, resultEnvelope } from './envelope.ts';
import { appRouter, procedureType } from './router.ts';

export type TrpcHandler = (context: RequestContext, path: string, query: string) => Promise<void>;

export const TRPC_PREFIX = '/trpc/';

/** `docs/protocol/README.md#trpc` */
export const MAX_BATCH_CALLS = 16;

interface CallResponse {
  status: number;
  body: object;
  headers: Headers;
}

/** `docs/protocol/README.md#trpc`. tRPC's own adapter reads the body before it knows the caller. */
export function createTrpcHandler(
  operations: ReadonlyMap<string, Operation>,
  callContext: CallContext,
  authenticate: Authenticate,
  log: Logger,
): TrpcHandler {
  const mayBeEmpty = new Map(
    [...operations].map(([name, operation]) => [name, inputShape(operation, []).mayBeEmpty]),
  );

  return async (context, path, query) => {
    const parameters = new URLSearchParams(query);
    const isBatch = parameters.get('batch') === '1';
    const names = procedureNames(path, isBatch);
    // Before any work for the calls: a request of 16 KiB can name thousands.
    if (names.length > MAX_BATCH_CALLS) return sendBatchTooLarge(context);
    context.wire = 'trpc';
    context.calls = names.map((name) => ({
      operation: operations.get(name)?.name ?? null,
      status: null,
    }));
    // Only known names get into the log, because a path can contain a credential.
    context.route = context.calls.map(({ operation }) => operation ?? 'unknown').join(',');

    // Calls of the same procedure share the look-up, and the second one after a body that arrived
    // late.
    const callers = new Map<string, Promise<AnyCaller>>();
    const readInputs = inputReader(context, parameters, isBatch);

    async function callProcedure(index: number, name: string): Promise<object> {
      const operation = operations.get(name);
      checkRoute(operation, context.request.method);
      return call(callContext, operation, {
        authenticate() {
          const key = `${name} ${context.waitedForBody}`;
          const caller = callers.get(key) ?? authenticate(context, operation);
          callers.set(key, caller);
          return caller;
        },
        async readInput() {
          const input = jsonMembers((await readInputs())(index), mayBeEmpty.get(name) ?? false);
          return procedureType(operation) === 'query' ? withoutDirection(input) : input;
        },
        validateInput: (input) => validateInProcedure(operation, index, input),
        request: context,
        summary: context.calls[index] as RequestedCall,
      });
    }

    async function respond(index: number, name: string): Promise<CallResponse> {
      const summary = context.calls[index] as RequestedCall;
      try {
        const output = await callProcedure(index, name);
        // Those of a batch end before the first byte is sent.
        const isCollected = output instanceof StreamedOutput && names.length > 1;
        const data = isCollected ? await output.whole() : output;
        summary.status = 200;
        if (data instanceof StreamedOutput) return { status: 200, body: data, headers: {} };
        return { status: 200, body: resultEnvelope(data), headers: {} };
      } catch (failure) {
        if (failure instanceof ClientGone) throw failure;
        const error = reportFailure(log, context, failure);
        summary.error_code = error.code;
        summary.status = errorDefinition(error.code).status;
        const procedure = {
          // tRPC repeats unknown names too, but such a name can be a credential.
          path: name.replace(credentialPattern, '[redacted]'),
          caller: operations.get(name)?.caller ?? null,
        };
        const body = errorEnvelope(context, error, procedure);
        return { status: summary.status, body, headers: errorHeaders(context, error) };
      }
    }

    const responses = await Promise.all(names.map((name, index) => respond(index, name)));
    const [first] = responses as [CallResponse];
    if (first.body instanceof StreamedOutput) {
      const [before, after] = isBatch ? ['[', ']'] : ['', ''];
      return sendPieces(context, first.body.pieces(`${before}{"result":{"data":`, `}}${after}`));
    }
    // Like tRPC: 207 if the calls of a batch have different results.
    const status = responses.every((response) => response.status === first.status)
      ? first.status
      : 207;
    const bodies = responses.map(({ body }) => body);
    const headers = mergeHeaders(responses.map((response) => response.headers));
    sendJson(context, status, isBatch ? bodies : first.body, headers);
  };
}

/** A tRPC client takes it as the result of each call. */
function sendBatchTooLarge(context: RequestContext): void {
  const error = new DomainError('batch_too_large');
  context.wire = 'trpc';
  const { status } = errorDefinition(error.code);
  context.calls = [{ operation: null, status, error_code: error.code }];
  sendJson(context, status, errorEnvelope(context, error, { path: '', caller: null }));
}

/** The longest Retry-After wins. */
function mergeHeaders(headers: readonly Headers[]): Headers {
  const wait = ({ 'Retry-After': seconds = '0' }: Headers) => Number(seconds);
  return Object.assign({}, ...headers.toSorted((one, other) => wait(one) - wait(other)));
}

function procedureNames(path: string, isBatch: boolean): string[] {
  const decoded = percentDecode(path.slice(TRPC_PREFIX.length));
  return isBatch ? decoded.split(',', MAX_BATCH_CALLS + 1) : [decoded];
}

function checkRoute(
  operation: Operation | undefined,
  method: string | undefined,
): asserts operation is Operation {
  if (operation === undefined) throw new DomainError('route_not_found');
  const allowed = procedureType(operation) === 'query' ? 'GET' : 'POST';
  if ((method === 'HEAD' ? 'GET' : method) !== allowed) throw new MethodNotAllowed([allowed]);
}

/** A POST has the inputs in its body, a GET in the query; those of a batch are by index. */
function inputReader(context: RequestContext, parameters: URLSearchParams, isBatch: boolean) {
  let inputs: Promise<unknown> | undefined;
  const read = async () => {
    if (context.request.method === 'POST') return readJson(context);
    const text = parameters.get('input');
    if (text === null) return undefined;
    try {
      return decodeJson(text);
    } catch {
      throw new DomainError('body_malformed');
    }
  };
  return async (): Promise<(index: number) => unknown> => {
    inputs ??= read();
    const all = await inputs;
    if (!isBatch) return () => all;
    const byIndex = jsonMembers(all, true) as Record<string, unknown>;
    return (index) => (Object.hasOwn(byIndex, index) ? byIndex[index] : undefined);
  };
}

/** TanStack Query sends it with each page of an infinite query, whose input has a cursor. */
function withoutDirection(input: object): object {
  const { direction, ...members } = input as { direction?: unknown };
  return direction === 'forward' ? members : input;
}

async function validateInProcedure(
  operation: Operation,
  index: number,
  input: object,
): Promise<object> {
  try {
    const valid = await callTRPCProcedure({
      router: appRouter,
      path: operation.name,
      type: procedureType(operation),
      ctx: { handle: async (valid: object) => valid },
      getRawInput: async () => input,
      signal: undefined,
      batchIndex: index,
    });
    return valid as object;
  } catch (error) {
    if (!(error instanceof TRPCError)) throw error;
    if (error.cause instanceof ZodError) throw parameterInvalid(error.cause);
    throw error.cause ?? error;
  }
}
