import { type Caller, credentialPattern, type ErrorCode, errorDefinition } from '@latchkey/schema';
import { callTRPCProcedure, TRPCError } from '@trpc/server';
import type { Logger } from 'pino';
import { ZodError } from 'zod';
import { DomainError } from '../../domain-error.ts';
import type { Limits } from '../../limits/limits.ts';
import type { AnyCaller } from '../../operations/caller.ts';
import { inputMembers, inputShape } from '../../operations/input.ts';
import type { Operation } from '../../operations/operation.ts';
import { OperationCall } from '../../operations/operation-call.ts';
import { parameterInvalid } from '../../operations/validate.ts';
import { percentDecode } from '../../percent-decode.ts';
import type { Service } from '../../service.ts';
import { answerJson, type Headers } from '../answer.ts';
import type { Authenticate } from '../authenticate.ts';
import { CallerGone, readJson } from '../body.ts';
import { errorHeaders } from '../error-answer.ts';
import type { Exchange } from '../exchange.ts';
import { reportFailure } from '../failure.ts';
import { MethodNotAllowed } from '../method-not-allowed.ts';
import { perform } from '../perform.ts';
import { errorEnvelope, resultEnvelope } from './envelope.ts';
import { appRouter, procedureType } from './router.ts';

/** Answers requests below `/trpc/`. */
export type TrpcHandler = (exchange: Exchange, path: string, query: string) => Promise<void>;

export const TRPC_PREFIX = '/trpc/';

interface Outcome {
  status: number;
  error_code?: ErrorCode;
  body: object;
  headers: Headers;
}

/** One procedure call of a request. It fails by itself, wherever it is in a batch. */
interface Call {
  path: string;
  operation: Operation | undefined;
  outcome: Outcome | undefined;
  /** From the check of the route on: what fails before that calls no operation. */
  operationCall: OperationCall | undefined;
}

/**
 * The HTTP wire of tRPC: single calls and batches, queries by GET, mutations by POST. The gate
 * stands before the procedures: nothing of a request's body is read before its caller is known, and
 * the headers and the order of checks are those of the REST paths (the contract, section 1), which
 * tRPC's own adapter can't do. The procedures themselves are called through tRPC.
 *
 * @param operations - those that are offered
 */
export function createTrpcHandler(
  operations: ReadonlyMap<string, Operation>,
  service: Service,
  authenticate: Authenticate,
  limits: Limits,
  log: Logger,
): TrpcHandler {
  const mayBeEmpty = new Map(
    [...operations].map(([name, operation]) => [name, inputShape(operation, []).mayBeEmpty]),
  );

  return async (exchange, path, query) => {
    const parameters = new URLSearchParams(query);
    const batch = parameters.get('batch') === '1';
    const calls = procedurePaths(path, batch).map(
      (name): Call => ({
        path: name,
        operation: operations.get(name),
        outcome: undefined,
        operationCall: undefined,
      }),
    );
    // Only names that we know get into the log: a path could hold a credential.
    exchange.route = calls.map(({ operation }) => operation?.name ?? 'unknown').join(',');
    exchange.procedures = calls;

    const settle = (call: Call, failure: unknown) => {
      const error = reportFailure(log, exchange, asDomainError(failure));
      call.operationCall?.refused(error);
      const caller: Caller | null = call.operation?.caller ?? null;
      call.outcome = {
        status: errorDefinition(error.code).status,
        error_code: error.code,
        // A name that we don't know is repeated as tRPC does, but it could hold a credential.
        body: errorEnvelope(exchange, error, {
          path: call.path.replace(credentialPattern, '[redacted]'),
          caller,
        }),
        headers: errorHeaders(error),
      };
    };
    /** Runs a step for every call that has not failed yet. */
    const each = (
      step: (call: Call, operation: Operation, index: number) => Promise<void> | void,
    ) =>
      Promise.all(
        calls.map(async (call, index) => {
          if (call.outcome !== undefined) return;
          try {
            await step(call, call.operation as Operation, index);
          } catch (failure) {
            if (failure instanceof CallerGone) throw failure;
            settle(call, failure);
          }
        }),
      );

    await each((call, operation) => {
      checkRoute(call.operation, exchange.request.method);
      call.operationCall = new OperationCall(service, operation, exchange.recorded);
    });
    // A batch has one Authorization header: calls of the same procedure share its look-up.
    const callers = new Map<string, Promise<AnyCaller>>();
    await each(async (call, operation) => {
      const caller = callers.get(operation.name) ?? authenticate(exchange, operation);
      callers.set(operation.name, caller);
      call.operationCall?.authenticated(await caller);
    });
    const readInputs = inputReader(exchange, parameters, batch);
    await each(async (call, operation, index) => {
      const input = (await readInputs())(index);
      const members = inputMembers(input, mayBeEmpty.get(operation.name) ?? false);
      const data = await callTRPCProcedure({
        router: appRouter,
        path: operation.name,
        type: procedureType(operation),
        ctx: {
          perform: (valid: object) =>
            perform(exchange, limits, call.operationCall as OperationCall, valid),
        },
        getRawInput: async () => members,
        signal: undefined,
        batchIndex: index,
      });
      call.outcome = { status: 200, body: resultEnvelope(data), headers: {} };
    });

    exchange.grant_id = calls.flatMap(({ operationCall }) => operationCall?.grant_id ?? []).at(-1);
    const outcomes = calls.flatMap(({ outcome }) => outcome ?? []);
    const [first] = outcomes;
    if (first === undefined) throw new DomainError('route_not_found');
    // As tRPC does: 207 where the calls of a batch came out differently.
    const status = outcomes.every((outcome) => outcome.status === first.status)
      ? first.status
      : 207;
    const headers = togetherOf(outcomes.map((outcome) => outcome.headers));
    const bodies = outcomes.map((outcome) => outcome.body);
    answerJson(exchange, status, batch ? bodies : first.body, headers);
  };
}

/**
 * The headers of several calls as those of one answer. Of what several have, the one with the
 * longest wait has the word: who keeps to it is not refused again, and its limit goes with it.
 */
function togetherOf(headers: readonly Headers[]): Headers {
  const wait = ({ 'Retry-After': seconds = '0' }: Headers) => Number(seconds);
  return Object.assign({}, ...headers.toSorted((one, other) => wait(one) - wait(other)));
}

function procedurePaths(path: string, batch: boolean): string[] {
  const decoded = percentDecode(path.slice(TRPC_PREFIX.length));
  return batch ? decoded.split(',') : [decoded];
}

function checkRoute(operation: Operation | undefined, method: string | undefined): void {
  if (operation === undefined) throw new DomainError('route_not_found');
  const taken = procedureType(operation) === 'query' ? 'GET' : 'POST';
  if ((method === 'HEAD' ? 'GET' : method) !== taken) throw new MethodNotAllowed([taken]);
}

/**
 * Reads the inputs when the first call asks for its own, once for all: a POST has them in its body,
 * a GET in the query. In a batch they are an object by the calls' indexes.
 */
function inputReader(exchange: Exchange, parameters: URLSearchParams, batch: boolean) {
  let inputs: Promise<unknown> | undefined;
  const read = async () => {
    if (exchange.request.method === 'POST') return readJson(exchange);
    const text = parameters.get('input');
    if (text === null) return undefined;
    try {
      return JSON.parse(text) as unknown;
    } catch {
      throw new DomainError('body_malformed');
    }
  };
  return async (): Promise<(index: number) => unknown> => {
    inputs ??= read();
    const all = await inputs;
    if (!batch) return () => all;
    const byIndex = inputMembers(all, true) as Record<string, unknown>;
    return (index) => (Object.hasOwn(byIndex, index) ? byIndex[index] : undefined);
  };
}

/** What came out of a procedure: tRPC wraps what was thrown in it. */
function asDomainError(failure: unknown): unknown {
  if (!(failure instanceof TRPCError)) return failure;
  const { cause } = failure;
  if (cause instanceof ZodError) return parameterInvalid(cause);
  return cause ?? failure;
}
