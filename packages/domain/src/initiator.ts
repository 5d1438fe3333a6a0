import type { Caller, OperationName } from '@latchkey/schema';

export type Actor = Caller | 'command_line' | 'user';

export type ActionName =
  | OperationName
  | 'links.begin'
  | 'links.switch'
  | 'pages.open'
  | 'pages.done'
  | 'clients.register'
  | 'clients.get';

/** Recorded by the write that makes a change. */
export interface Initiator {
  /** Contains no credentials. */
  request_id: string;
  by: Actor;
  /** Null for every actor but an application. */
  secret_id: string | null;
  /** Only of an operator with a key. */
  key_id?: string;
  os_user?: string;
}
