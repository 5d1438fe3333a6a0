/** What a request to redeem a code sends. Everything that is not `right` is wrong on purpose. */
export interface Attempt {
  client: 'own' | 'other';
  secret: 'right' | 'wrong' | 'none';
  /** Of PKCE. `right` sends none for a code that was issued without a challenge. */
  verifier: 'right' | 'wrong' | 'none';
  redirectUri: 'right' | 'other';
}

/** What the client sends that the code was issued to. */
export const RIGHT: Attempt = {
  client: 'own',
  secret: 'right',
  verifier: 'right',
  redirectUri: 'right',
};

/** The response to an attempt. */
export type Answer = { milliseconds: number } & (
  | { kind: 'token'; token: string }
  /** An error response of RFC 6749, 5.2. */
  | { kind: 'refused'; status: number; error: string }
  /** A status of 429 or 503: it says nothing about the code. */
  | { kind: 'busy'; status: number; retryAfter: string | null }
  /** Anything else. Without a status, no response came. */
  | { kind: 'broken'; status: number | null; reason: string }
);

/** A code, as the user's browser brought it to the client. */
export interface Code {
  code: string;
  /** Of PKCE; null if the request had no challenge. */
  verifier: string | null;
}

/** The server refused an authorization request. A login that failed for another reason is another error. */
export class NoCode extends Error {
  override readonly name = 'NoCode';
  /** `page`: it showed an error page instead of the redirect that RFC 6749, 4.1.2.1, asks for. */
  readonly how: 'redirect' | 'page';

  constructor(message: string, how: NoCode['how'] = 'redirect') {
    super(message);
    this.how = how;
  }
}

/** A way to find out whether a token passes. */
export interface Check {
  name: 'introspection' | 'resource';
  /** Found in the metadata: it may be for other clients than this one. */
  isPublished?: boolean;
  /** @throws Error if the response says neither yes nor no */
  passes(token: string): Promise<boolean>;
}

/** A server that redeems codes. */
export interface Server {
  /** How many routes lead to the redemption. */
  readonly routes: number;
  readonly hasSecret: boolean;
  readonly hasOtherClient: boolean;
  readonly checks: readonly Check[];
  /**
   * Gets a code for the client.
   *
   * @throws NoCode if the server refuses to issue one
   */
  issue(options: { challenge: boolean }): Promise<Code>;
  /** Opens a connection of its own for one attempt. The function sends it. */
  connect(route: number): Promise<(code: Code, attempt: Attempt) => Promise<Answer>>;
  /**
   * Revokes a token; null if the server can't.
   *
   * @throws Error if the response is not a 200
   */
  readonly revoke: ((token: string) => Promise<void>) | null;
}

export async function redeem(server: Server, code: Code, attempt: Attempt): Promise<Answer> {
  const send = await server.connect(0);
  return send(code, attempt);
}
