import { randomBytes } from 'node:crypto';

/** A real application would keep them in its database, encrypted. */
export interface LinkedAccounts {
  add(grantSecret: string): string;
  find(session: string): string | null;
  remove(session: string): void;
}

const MOST = 100;

export function createLinkedAccounts(): LinkedAccounts {
  const secrets = new Map<string, string>();
  return {
    add(grantSecret) {
      const session = randomBytes(32).toString('base64url');
      secrets.set(session, grantSecret);
      // A Map keeps the order of insertion, so the first key is the oldest.
      const [oldest] = secrets.keys();
      if (secrets.size > MOST && oldest !== undefined) secrets.delete(oldest);
      return session;
    },
    find: (session) => secrets.get(session) ?? null,
    remove: (session) => void secrets.delete(session),
  };
}
