/** Who asks for an exchange. All know what went through the user's browser: the code. */
export type Redeemer =
  /** The application that the code was issued to, with its secret. */
  | 'application'
  /** The same application with a secret that is not its own, all else being right. */
  | 'wrong secret'
  /** Another registered application, with its own right secret. */
  | 'other application'
  /** Somebody who sends no secret at all. */
  | 'nobody';

/** A server that exchanges codes, called over HTTP as its applications call it. */
export interface Contender {
  /** A fresh code for the application, as the user's browser would bring it. */
  issue(): Promise<string>;
  /**
   * Asks for the exchange of a code.
   *
   * @returns what opens the grant; null where the exchange was refused
   * @throws Error for any answer that is neither
   */
  redeem(code: string, by: Redeemer): Promise<string | null>;
  /** Whether a request with a grant is let in now. */
  admits(grant: string): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * The body of an answer; null where it is one of the refusals.
 *
 * @throws Error for any other answer: a server that breaks down has not refused
 */
export async function accepted(response: Response): Promise<Record<string, string> | null> {
  const text = await response.text();
  if (response.status === 200) return JSON.parse(text);
  if (response.status === 400 || response.status === 401) return null;
  throw new Error(`${new URL(response.url).pathname} answered ${response.status}: ${text}`);
}
