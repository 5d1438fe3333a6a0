import { randomBytes } from 'node:crypto';
import type { FullGrant } from '@latchkey/schema';
import type { ShownExperiment } from './experiments.ts';

/** A link of the demo application. A real one would keep it in its database, the secret encrypted. */
export interface LinkedAccount extends Pick<FullGrant, 'grant_id' | 'grant_secret'> {
  /** Of the links of this browser, this one first. */
  readonly grant_ids: readonly string[];
  shown: ShownExperiment;
}

export interface LinkedAccounts {
  add(account: LinkedAccount): string;
  find(session: string): LinkedAccount | null;
  remove(session: string): void;
}

const MOST = 100;

export function createLinkedAccounts(): LinkedAccounts {
  const accounts = new Map<string, LinkedAccount>();
  return {
    add(account) {
      const session = randomBytes(32).toString('base64url');
      accounts.set(session, account);
      // A Map keeps the order of insertion, so the first key is the oldest.
      const [oldest] = accounts.keys();
      if (accounts.size > MOST && oldest !== undefined) accounts.delete(oldest);
      return session;
    },
    find: (session) => accounts.get(session) ?? null,
    remove: (session) => void accounts.delete(session),
  };
}
