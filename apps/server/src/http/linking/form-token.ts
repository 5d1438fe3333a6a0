import { createHmac, timingSafeEqual } from 'node:crypto';

/** Proves that the page sent its form. A one-way function of the session, so nothing is stored. */
export function formTokenOf(session: string): string {
  return createHmac('sha256', session).update('form_token').digest('base64url');
}

/** Takes constant time. */
export function isFormToken(token: string, session: string): boolean {
  const [given, expected] = [Buffer.from(token), Buffer.from(formTokenOf(session))];
  return given.length === expected.length && timingSafeEqual(given, expected);
}
