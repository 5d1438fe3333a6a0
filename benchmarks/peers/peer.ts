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
  /** The process that its processes descend from. Undefined: it runs in this process. */
  pid?: number;
  close(): Promise<void>;
}

/**
 * How a server hashes the secrets of clients: by its default, which a password needs and a random secret does
 * not, or with the least work.
 */
export type ClientSecretHash = 'default' | 'turned down';

/** For the environment of a server that has the choice. */
export const slowHash = (hash: ClientSecretHash): Record<string, string> =>
  hash === 'default' ? { SLOW_HASH: '1' } : {};

/** A program that the server needs is not on this machine. The message says what to install. */
export class Unavailable extends Error {
  override readonly name = 'Unavailable';
}
