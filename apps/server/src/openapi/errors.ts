import { type ErrorCode, errorCodes, fields, type OperationContract } from '@latchkey/schema';
import { z } from 'zod';

export function errorsOf(operation: OperationContract): ErrorCode[] {
  const takesBody = operation.method !== 'GET';
  const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input' });
  const takesInput = Object.keys(properties).length > 0;
  // The first request with a grant writes too, even if it is a GET: it records the use.
  const writes = takesBody || operation.caller === 'grant';
  // What every role may do, no key lacks the right to.
  const needsRight =
    operation.roles !== undefined && operation.roles.length < fields.role.options.length;
  const codes = new Set<ErrorCode>([
    'credentials_missing',
    'credentials_invalid',
    ...(operation.caller === 'operator' ? [] : (['application_disabled'] as const)),
    ...(needsRight ? (['right_missing'] as const) : []),
    'rate_limited',
    'store_unavailable',
    'internal_error',
    ...(writes ? (['outcome_unknown'] as const) : []),
    ...(takesBody ? (['body_malformed', 'media_type_unsupported', 'body_too_large'] as const) : []),
    // An operator's operation also refuses members that it does not know.
    ...(takesInput || operation.caller === 'operator' ? (['parameter_invalid'] as const) : []),
    ...operation.errors,
  ]);
  return errorCodes.filter((code) => codes.has(code));
}
