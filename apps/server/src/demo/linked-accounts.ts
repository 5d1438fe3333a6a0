import { randomBytes } from 'node:crypto';

/**
 * The grants of the demo application, by browser. An application would keep them in its database,
 * encrypted; the demo forgets them with the process.
 */
export interface LinkedAccounts {
  /** Keeps a grant for a browser, and returns its new session. */
  add(grantSecret: string): string;
  /** The secret of the grant; null if there is none. */
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
      // The first key is the oldest one.
      const [oldest] = secrets.keys();
      if (secrets.size > MOST && oldest !== undefined) secrets.delete(oldest);
      return session;
    },
    find: (session) => secrets.get(session) ?? null,
    remove: (session) => void secrets.delete(session),
  };
}
