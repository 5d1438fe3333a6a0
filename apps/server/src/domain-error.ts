import { type ErrorCode, errorTable, type ParameterIssue } from '@latchkey/schema';

/** What an error tells beyond its row in the table. */
export interface ErrorMembers {
  grant_id?: string;
  issues?: ParameterIssue[];
}

/**
 * A refusal that has a row in the error table. Rules and stores throw it; the codecs of the two
 * wires alone know how it is sent.
 */
export class DomainError extends Error {
  override readonly name = 'DomainError';
  readonly code: ErrorCode;
  readonly members: ErrorMembers;

  /**
   * @param code - the row of the error table
   * @param members - the extra members that the table names for it
   * @param cause - what it came from; goes to the log, never to the wire
   */
  constructor(code: ErrorCode, members: ErrorMembers = {}, cause?: unknown) {
    super(errorTable[code].description, cause === undefined ? undefined : { cause });
    this.code = code;
    this.members = members;
  }
}
