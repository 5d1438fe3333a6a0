import { type ErrorCode, errorTable, type LinkStatus, type ParameterIssue } from '@latchkey/schema';
import { type Reason, reasons } from './reasons.ts';

/** What an error carries beyond its row in the table. */
export interface ErrorMembers {
  grant_id?: string;
  issues?: ParameterIssue[];
  /** What was decided about a link request. */
  status?: LinkStatus;
  /** Leads the browser back to its application. */
  redirect_to?: string;
}

/** What a refusal is about, as far as known. For the operator, never for the wire. */
export interface Subject {
  application_id?: string;
  grant_id?: string;
  link_id?: string;
}

/**
 * A refusal that has a row in the error table. Rules and stores throw it. Only the codecs of the two
 * wires know how it is sent.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly members: ErrorMembers;
  /** Which check failed, if the code stands for several. For the audit, never for the wire. */
  readonly reason: Reason | null;
  /** For the audit, never for the wire. */
  readonly subject: Subject;

  /**
   * @param code - the row of the error table
   * @param members - the extra members that the table names for it
   * @param cause - the underlying failure; for the log, never for the wire
   * @param why - for the audit; see {@link DomainError.because}
   */
  constructor(
    code: ErrorCode,
    members: ErrorMembers = {},
    cause?: unknown,
    why: { reason: Reason | null; subject: Subject } = { reason: null, subject: {} },
  ) {
    super(errorTable[code].description, cause === undefined ? undefined : { cause });
    this.code = code;
    this.members = members;
    this.reason = why.reason;
    this.subject = why.subject;
  }

  /** A refusal for one of the reasons that its code stands for. */
  static because(reason: Reason, subject: Subject = {}, members: ErrorMembers = {}): DomainError {
    return new DomainError(reasons[reason].code, members, undefined, { reason, subject });
  }

  /** Returns a DomainError as it is and turns anything else into `internal_error`. */
  static from(failure: unknown): DomainError {
    return failure instanceof DomainError
      ? failure
      : new DomainError('internal_error', {}, failure);
  }
}
