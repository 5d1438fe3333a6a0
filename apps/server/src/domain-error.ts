import { type ErrorCode, errorTable, type ParameterIssue } from '@latchkey/schema';
import { type Reason, reasons } from './reasons.ts';

/** What an error tells beyond its row in the table. */
export interface ErrorMembers {
  grant_id?: string;
  issues?: ParameterIssue[];
}

/** What a refusal is about, as far as it is known; for the operator, never for the wire. */
export interface Subject {
  application_id?: string;
  grant_id?: string;
}

/**
 * A refusal that has a row in the error table. Rules and stores throw it; the codecs of the two
 * wires alone know how it is sent.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly members: ErrorMembers;
  /** Which check failed, where the code stands for several; goes to the audit, never to the wire. */
  readonly reason: Reason | null;
  /** As the reason, never for the wire. */
  readonly subject: Subject;

  /**
   * @param code - the row of the error table
   * @param members - the extra members that the table names for it
   * @param cause - what it came from; goes to the log, never to the wire
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
}
