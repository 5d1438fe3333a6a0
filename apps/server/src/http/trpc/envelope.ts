import { type Caller, errorDefinition } from '@latchkey/schema';
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import type { DomainError } from '../../domain-error.ts';
import { errorBody } from '../error-answer.ts';
import type { Exchange } from '../exchange.ts';

// tRPC's name of each status in the error table.
const codeByStatus: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

/** A result as tRPC's wire has it. */
export function resultEnvelope(data: unknown): object {
  return { result: { data } };
}

/** An error as tRPC's wire has it, with the whole body of the REST answer in `data`. */
export function errorEnvelope(
  exchange: Exchange,
  error: DomainError,
  procedure: { path: string; caller: Caller | null },
): object {
  const httpStatus = errorDefinition(error.code).status;
  const code = codeByStatus[httpStatus] ?? 'INTERNAL_SERVER_ERROR';
  const body = errorBody(exchange, error, procedure.caller);
  return {
    error: {
      message: body.error_description,
      code: TRPC_ERROR_CODES_BY_KEY[code],
      data: { ...body, code, httpStatus, path: procedure.path },
    },
  };
}
