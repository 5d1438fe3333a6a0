import type { DomainError } from '@latchkey/domain/domain-error';
import { type ErrorBody, errorWord } from '@latchkey/schema';
import type { CallerKind } from './caller.ts';

/** OAuth libraries print it, and they send a secret in one of these two ways (RFC 6749, section 2.3.1). */
const SEND_FORM =
  'Send client_id and client_secret in a form, Content-Type: application/x-www-form-urlencoded, or as Authorization: Basic.';

export function errorBody(
  context: { publicUrl(): string; requestId: string; asksForForm: boolean },
  error: DomainError,
  caller: CallerKind | null,
): ErrorBody {
  return {
    error: errorWord(error.code, caller === 'grant' ? 'grant' : null),
    error_description:
      context.asksForForm && error.code === 'credentials_missing' ? SEND_FORM : error.message,
    error_code: error.code,
    error_uri: `${context.publicUrl()}/docs/errors#${error.code}`,
    request_id: context.requestId,
    ...error.members,
  };
}
