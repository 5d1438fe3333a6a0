import {
  type BigIntStats,
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DomainError } from '@latchkey/domain/domain-error';
import { isDamage, toStoreError } from './errors.ts';

/** What a store has opened. Once it is lost, only a restart helps. */
export interface DatabaseFile {
  /** @throws DomainError `store_unavailable` if it was lost before */
  refuseIfLost(): void;
  /** @throws DomainError `store_unavailable` for good, once the path has another file or none */
  verify(): void;
  /** What a caller gets of an error. Damage loses the file for good. */
  toStoreError(error: unknown): unknown;
}

export const inMemory: DatabaseFile = {
  refuseIfLost() {},
  verify() {},
  toStoreError,
};

/** @param path - of a database that was just opened, so that its write-ahead log exists */
export function watchDatabaseFile(path: string, onLost: (error: Error) => void): DatabaseFile {
  // Both have to stay: without its log, the file lacks the newest commits.
  const files = [path, `${path}-wal`]
    .map((name) => ({ name, opened: identify(name) }))
    .filter(({ opened }) => opened !== undefined);
  let lost: Error | null = null;

  function lose(message: string, cause?: unknown): void {
    lost = new Error(`${message} Nothing is read or written any more.`, { cause });
    onLost(lost);
  }

  function refuseIfLost(): void {
    if (lost !== null) throw new DomainError('store_unavailable', {}, lost);
  }

  function verify(): void {
    for (const { name, opened } of files) {
      const found = identify(name);
      const isOurs = found?.dev === opened?.dev && found?.ino === opened?.ino;
      if (lost === null && !isOurs) {
        lose(
          `The SQLite file ${name} was replaced, moved or deleted while the service ran. Put the right files in place and restart every process that uses them.`,
        );
      }
    }
    refuseIfLost();
  }

  return {
    refuseIfLost,
    verify,
    toStoreError(error) {
      if (lost === null && isDamage(error)) {
        lose(
          `The SQLite file ${path} is damaged. Stop every process that uses it, and restore a backup: run \`latchkey restore\`.`,
          error,
        );
      }
      return toStoreError(error);
    },
  };
}

type Identity = Pick<BigIntStats, 'dev' | 'ino'> | undefined;

/** @throws DomainError `store_unavailable` if the path can't be looked at */
function identify(name: string): Identity {
  try {
    return statSync(name, { bigint: true, throwIfNoEntry: false });
  } catch (error) {
    throw new DomainError('store_unavailable', {}, error);
  }
}

/** Why a file that {@link isMountedAlone} can't be used there. */
export const whyNotAlone = (path: string) =>
  `${path} is mounted without its folder. SQLite keeps the latest changes in ${path}-wal beside it: they would stay behind, for example in the container, and what was revoked would work again without them.`;

export const MOUNT_THE_FOLDER =
  'Put the file into a folder of its own, and mount that folder instead.';

export function isMountedAlone(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return false;
  const place = realpathSync(path);
  let mounts: string;
  try {
    mounts = readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return file.dev !== statSync(dirname(place)).dev;
  }
  // proc(5): the fifth field is the mount point, with space, tab, line feed and backslash in octal. Devices say less
  // here: on an overlay, a file can have another one than its folder.
  return mounts.split('\n').some((line) => {
    const point = line
      .split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    return point === place;
  });
}

export const RIGHTS_OF_OTHERS = 0o077;

export function tightenFile(path: string): string | null {
  const { mode, uid } = statSync(path);
  if (process.platform === 'win32' || (mode & RIGHTS_OF_OTHERS) === 0) return null;
  const found = `Other users of this machine could read or write ${path} (mode ${(mode & 0o777).toString(8)})`;
  if (uid !== process.getuid?.()) {
    return `${found}. It belongs to another user: let its owner run chmod 600 on it.`;
  }
  chmodSync(path, mode & ~RIGHTS_OF_OTHERS & 0o777);
  return `${found}. Only its owner can now. Check who has copies.`;
}

/** In bytes: the database with its log, and what is free on its disk. */
export function sizesOf(path: string): { database: number; free: number } {
  const { bavail, bsize } = statfsSync(path);
  return { database: sizeOf(path) + sizeOf(`${path}-wal`), free: bavail * bsize };
}

/** 0 if there is none. */
export const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

export function withFile<T>(path: string, use: (file: number) => T, flags: 'r' | 'r+' = 'r'): T {
  const file = openSync(path, flags);
  try {
    return use(file);
  } finally {
    closeSync(file);
  }
}

/** Zeros behind the end of the file. */
export function bytesIn(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  readSync(file, bytes, 0, length, at);
  return bytes;
}

export const bytesOf = (path: string, at: number, length: number): Buffer =>
  withFile(path, (file) => bytesIn(file, at, length));
