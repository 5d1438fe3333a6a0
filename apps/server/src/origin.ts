import type { Caller } from '@latchkey/schema';

/** Who calls: the caller of an operation as it authenticated itself, or a person at the command line. */
export type Actor = Caller | 'command_line';

/**
 * Where a change to a grant comes from. It travels with the call to the rules, and the write that
 * makes the change keeps it.
 */
export interface Origin {
  /** The request's id, without a credential that a caller may have put into its own. */
  request_id: string;
  by: Actor;
  /** Which of its secrets an application used; null for everyone else. */
  secret_id: string | null;
}
