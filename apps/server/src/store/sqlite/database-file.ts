import { type BigIntStats, chmodSync, statSync } from 'node:fs';
import { DomainError } from '../../domain-error.ts';

export interface DatabaseFile {
  /** @throws DomainError `store_unavailable` for good, once the path has another file or none */
  verify(): void;
  verifyOncePerTick(): Promise<void>;
}

export const inMemory: DatabaseFile = { verify() {}, async verifyOncePerTick() {} };

/** @param path - of a database that was just opened, so that its write-ahead log exists */
export function watchDatabaseFile(path: string, onReplaced: (error: Error) => void): DatabaseFile {
  // Both have to stay: without its log, the file lacks the newest commits.
  const files = [path, `${path}-wal`]
    .map((name) => ({ name, opened: identify(name) }))
    .filter(({ opened }) => opened !== undefined);
  let replaced: Error | null = null;
  let nextCheck: Promise<void> | null = null;

  function verify(): void {
    if (replaced === null) {
      const changed = files.find(({ name, opened }) => {
        const found = identify(name);
        return found?.dev !== opened?.dev || found?.ino !== opened?.ino;
      });
      if (changed === undefined) return;
      replaced = new Error(
        `The SQLite file ${changed.name} was replaced, moved or deleted while the service ran. Nothing is read or written any more. Put the right files in place and restart every process that uses them.`,
      );
      onReplaced(replaced);
    }
    throw new DomainError('store_unavailable', {}, replaced);
  }

  return {
    verify,
    verifyOncePerTick() {
      if (nextCheck !== null) return nextCheck;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      nextCheck = promise;
      // Runs after the reads of all requests that are handled together.
      process.nextTick(() => {
        nextCheck = null;
        try {
          verify();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
      return promise;
    },
  };
}

type Identity = Pick<BigIntStats, 'dev' | 'ino'> | undefined;

function identify(name: string): Identity {
  return statSync(name, { bigint: true, throwIfNoEntry: false });
}

const OTHERS = 0o077;

export function tightenFile(path: string): string | null {
  const { mode, uid } = statSync(path);
  if (process.platform === 'win32' || (mode & OTHERS) === 0) return null;
  const found = `Other users of this machine could read or write ${path} (mode ${(mode & 0o777).toString(8)})`;
  if (uid !== process.getuid?.()) {
    return `${found}. It belongs to another user: let its owner run chmod 600 on it.`;
  }
  chmodSync(path, mode & ~OTHERS & 0o777);
  return `${found}. Only its owner can now. Check who has copies.`;
}
