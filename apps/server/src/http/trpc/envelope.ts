import type { DomainError } from '@latchkey/domain/domain-error';
import { type Caller, errorDefinition } from '@latchkey/schema';
import type { ErrorShape } from '@latchkey/schema/trpc';
import { type TRPC_ERROR_CODE_KEY, TRPC_ERROR_CODES_BY_KEY } from '@trpc/server/rpc';
import { errorBody } from '../../operations/error-body.ts';
import type { RequestContext } from '../request-context.ts';

const codeByStatus: Record<number, TRPC_ERROR_CODE_KEY> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  405: 'METHOD_NOT_SUPPORTED',
  409: 'CONFLICT',
  // tRPC has no code for it.
  410: 'NOT_FOUND',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'UNSUPPORTED_MEDIA_TYPE',
  429: 'TOO_MANY_REQUESTS',
  500: 'INTERNAL_SERVER_ERROR',
  503: 'SERVICE_UNAVAILABLE',
};

export function resultEnvelope(data: unknown): object {
  return { result: { data } };
}

export function errorEnvelope(
  context: RequestContext,
  error: DomainError,
  procedure: { path: string; caller: Caller | null },
): { error: ErrorShape } {
  const httpStatus = errorDefinition(error.code).status;
  const code = codeByStatus[httpStatus] ?? 'INTERNAL_SERVER_ERROR';
  const body = errorBody(context, error, procedure.caller);
  return {
    error: {
      message: body.error_description,
      code: TRPC_ERROR_CODES_BY_KEY[code],
      data: { ...body, code, httpStatus, path: procedure.path },
    },
  };
}
