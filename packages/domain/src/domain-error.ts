import { type ErrorCode, errorTable, type LinkStatus, type ParameterIssue } from '@latchkey/schema';
import { type Reason, reasons } from './reasons.ts';

export interface ErrorMembers {
  grant_id?: string;
  issues?: ParameterIssue[];
  status?: LinkStatus;
  redirect_to?: string;
}

/** For the operator, never for the caller. */
export interface Subject {
  /** It exists, or did until its deletion. */
  application_id?: string;
  account_id?: string;
  /** That of a caller who may have made it up. */
  claimed_application_id?: string;
  grant_id?: string;
  link_id?: string;
  key_id?: string;
}

/** The account of what was found; null if that has none any more. */
export const accountSubject = (account_id: string | null | undefined): Subject =>
  account_id == null ? {} : { account_id };

const OF_MEMBERS: ReadonlySet<ErrorCode> = new Set(['parameter_invalid', 'registration_invalid']);

/**
 * The first parameter that is not valid, and what is expected of it; null of other errors.
 *
 * A path may have a name that the caller made up, so it is cut, and both have the characters that RFC 6749,
 * section 5.2, allows.
 */
export function firstIssue(code: ErrorCode, { issues }: ErrorMembers): string | null {
  const [issue] = issues ?? [];
  if (!OF_MEMBERS.has(code) || issue === undefined) return null;
  const path = issue.path.join('.').slice(0, 80);
  const message = issue.message.replace(/[^.!?]$/, '$&.');
  const text = path === '' ? message : `${path}: ${message}`;
  return text.replaceAll(/["“”]/g, "'").replaceAll(/[^ -[\]-~]/g, '?');
}

/** Only the codecs of the two wires know how to send it. */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly members: ErrorMembers;
  /** Which check failed. For the operator, never for the caller. */
  readonly reason: Reason | null;
  readonly subject: Subject;

  /** @param cause - for the log, never for the wire */
  constructor(
    code: ErrorCode,
    members: ErrorMembers = {},
    cause?: unknown,
    why: { reason: Reason | null; subject: Subject } = { reason: null, subject: {} },
  ) {
    const texts = [firstIssue(code, members), errorTable[code].description];
    super(texts.filter(Boolean).join(' '), cause === undefined ? undefined : { cause });
    this.code = code;
    this.members = members;
    this.reason = why.reason;
    this.subject = why.subject;
  }

  static because(reason: Reason, subject: Subject = {}, members: ErrorMembers = {}): DomainError {
    return new DomainError(reasons[reason].code, members, undefined, { reason, subject });
  }

  /** @param path - of the member; empty for the input as a whole */
  static invalid(path: string[], message: string): DomainError {
    return new DomainError('parameter_invalid', { issues: [{ path, message }] });
  }

  static from(failure: unknown): DomainError {
    return failure instanceof DomainError
      ? failure
      : new DomainError('internal_error', {}, failure);
  }
}

/** In a sentence, without what to do. */
export function tell(error: unknown): string {
  const { code, cause } = DomainError.from(error);
  return cause instanceof Error ? `${code}, ${cause.message}` : code;
}

/** For what follows a change: a store that is unavailable by then has changed something all the same. */
export async function afterChange<T>(
  work: () => Promise<T>,
  members: ErrorMembers = {},
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'store_unavailable') throw error;
    throw new DomainError('outcome_unknown', members, error);
  }
}
