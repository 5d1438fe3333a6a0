import type { Caller, OperationName } from '@latchkey/schema';

/**
 * Who acts: the authenticated caller of an operation, a person at the command line, or a user on one
 * of our pages.
 */
export type Actor = Caller | 'command_line' | 'user';

/** What can be done: an operation, or what a browser does that no operation stands for. */
export type ActionName = OperationName | 'links.begin' | 'links.switch' | 'pages.open';

/**
 * Where a change to a grant comes from. The rules get it with the call, and the write that makes the
 * change records it.
 */
export interface Initiator {
  /** The id of the request. Credentials that a client put into it are removed. */
  request_id: string;
  by: Actor;
  /** The id of the secret that an application used; null for every other actor. */
  secret_id: string | null;
  /** At the command line: the user of the operating system. */
  os_user?: string;
}
