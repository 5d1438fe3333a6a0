/** The callers that try to redeem a code. All of them know it: it went through the user's browser. */
export type Redeemer =
  /** The application that the code was issued to, with its secret. */
  | 'application'
  /** The same application with a secret that is not valid. Everything else is right. */
  | 'wrong secret'
  /** The same application with its secret, and a verifier that is not that of the code's challenge. */
  | 'wrong verifier'
  /** The same application with its secret and verifier, and another redirect URI. */
  | 'other redirect URI'
  /** Another registered application, with its own valid secret. */
  | 'other application'
  /** A caller that sends no secret. */
  | 'nobody';

/** A server that redeems codes, called over HTTP as its applications call it. */
export interface Contender {
  /** A fresh code for the application, as the user's browser would bring it. */
  issue(): Promise<string>;
  /**
   * A code whose authorization request had no challenge, as if somebody had taken it out on the way.
   * The application does not know, and sends its verifier with it.
   *
   * @returns null if the server issues no such code
   */
  issueWithoutChallenge(): Promise<string | null>;
  /**
   * Redeems a code.
   *
   * @returns the secret or token of the grant; null if the server refused
   * @throws Error for any other response
   */
  redeem(code: string, by: Redeemer): Promise<string | null>;
  /** Whether the server accepts a request with this secret or token now. */
  accepts(grant: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * The body of a response; null if the server refused with 400 or 401.
 *
 * @throws Error for any other response: a server that breaks down has not refused
 */
export async function bodyUnlessRefused(
  response: Response,
): Promise<Record<string, string> | null> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  if (response.status === 400 || response.status === 401) return null;
  throw new Error(`${new URL(response.url).pathname} responded with ${response.status}: ${text}`);
}
