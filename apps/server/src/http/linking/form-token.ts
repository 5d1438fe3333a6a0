import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Proves that a form was sent by the page that it belongs to. It is made from the session of the page,
 * so nothing has to be kept, and it can't be turned back into the session.
 */
export function formTokenOf(session: string): string {
  return createHmac('sha256', session).update('form_token').digest('base64url');
}

/** Compares in constant time. */
export function isFormToken(token: string, session: string): boolean {
  const [given, expected] = [Buffer.from(token), Buffer.from(formTokenOf(session))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
