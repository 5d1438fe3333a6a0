import { type ErrorCode, errorCodes, type OperationContract } from '@latchkey/schema';
import { z } from 'zod';

/**
 * The errors that an operation can answer: its own, and those that come with its caller, its input
 * and its method. In the order of the table.
 */
export function answeredErrors(operation: OperationContract): ErrorCode[] {
  const takesBody = operation.method !== 'GET';
  const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input' });
  const takesInput = Object.keys(properties).length > 0;
  // What is not a GET writes, and so does the first request with a grant: it notes its use.
  const writes = takesBody || operation.caller === 'grant';
  const codes = new Set<ErrorCode>([
    'credentials_missing',
    'credentials_invalid',
    'rate_limited',
    'store_unavailable',
    'internal_error',
    ...(writes ? (['outcome_unknown'] as const) : []),
    ...(takesBody ? (['body_malformed', 'media_type_unsupported', 'body_too_large'] as const) : []),
    ...(takesInput ? (['parameter_invalid'] as const) : []),
    ...operation.errors,
  ]);
  return errorCodes.filter((code) => codes.has(code));
}
