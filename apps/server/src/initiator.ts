import type { Caller, OperationName } from '@latchkey/schema';

/** An authenticated caller, a person at the command line, or a user on one of the pages. */
export type Actor = Caller | 'command_line' | 'user';

export type ActionName = OperationName | 'links.begin' | 'links.switch' | 'pages.open';

/** Recorded by the write that makes a change. */
export interface Initiator {
  /** Contains no credentials. */
  request_id: string;
  by: Actor;
  /** The id of the secret of an application; null for every other actor. */
  secret_id: string | null;
  os_user?: string;
}
