import type { Login } from '../../packages/race/src/index.ts';
import type { Registration } from './oauth-client.ts';

/** A running OAuth server of another project, with two confidential clients. */
export interface Peer {
  /** In one line for readers: the versions of the server, and of what runs it. */
  versions: string;
  authorization: string;
  token: string;
  /** Responds to a GET with a token by 2xx if the token passes. */
  resource: string;
  /** Of the authorization requests. */
  scope: string;
  application: Registration;
  other: Registration;
  /** What the user does in a browser. */
  login: Login;
  close(): Promise<void>;
}

/** A program that the server needs is not on this machine. The message says what to install. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}
