import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { ReplacedDatabase, StagedBackup } from '@latchkey/store/backup';
import { commandChanges } from '@latchkey/store/operations/command-changes';
import type { OnStep } from '@latchkey/store/step';
import { alone, sqliteAdapter } from './adapter.ts';
import { acceptCopy, removeForeignTables, verify } from './backup.ts';
import { sizeOf } from './database-file.ts';
import { isLocked, retryWhileLocked } from './errors.ts';
import { followLink } from './follow-link.ts';
import { refuseForeign } from './foreign-file.ts';
import { READ_ONLY, withDatabase } from './node-sqlite.ts';
import { makeFolder } from './open-database.ts';
import { partialOf, removeLeftovers, sync } from './partial-files.ts';
import { useMarks } from './use-mark.ts';
import { completeFile } from './wal-mark.ts';

const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/** The database stays as it is until {@link StagedBackup.putInPlace}. */
export async function stageBackup(
  backup: string,
  path: string,
  onStep: OnStep = () => {},
): Promise<StagedBackup> {
  refuseSource(backup, path);
  refuseForeign(path);
  await refuseIfInUse(path);
  makeFolder(dirname(path));
  removeLeftovers(path);
  const folder = partialOf(path);
  const staged = join(folder, basename(path));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    onStep({ text: 'copying the backup', share: () => sizeOf(staged) / sizeOf(backup) });
    await copyFile(backup, staged);
    chmodSync(staged, 0o600);
    const contents = await verify(staged, backup, onStep);
    await removeForeignTables(staged);
    const replaced = await readReplaced(path, staged);
    return {
      ...{ database: path, url: `file:${staged}`, contents, replaced },
      putInPlace: () => replace(staged, path),
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

function refuseSource(backup: string, path: string): void {
  if (!existsSync(backup)) throw new Error(`There is no file ${backup}.`);
  const file = followLink(backup);
  if (resolve(file) === resolve(path)) {
    throw new Error(`${backup} is the database itself: name a backup of it.`);
  }
  if (sizeOf(`${file}-wal`) > 0) {
    throw new Error(
      `${backup} is not a backup but a database: its latest writes are in ${backup}-wal beside it. Set DATABASE_URL=file:${backup}, run \`latchkey backup\`, and restore that.`,
    );
  }
}

async function refuseIfInUse(path: string): Promise<void> {
  if (!existsSync(path)) return;
  try {
    await retryWhileLocked(() => completeFile(path));
  } catch (error) {
    // Any other error: the database is damaged, which is why it is replaced.
    if (!isLocked(error)) return;
    throw new Error(
      `A process uses ${path}. Stop every service, command and replicator that uses it, then restore again. Nothing was changed.`,
    );
  }
}

async function readReplaced(path: string, staged: string): Promise<ReplacedDatabase | null> {
  if (!existsSync(path)) return null;
  try {
    const idOfBackup = await withDatabase(staged, idOf, READ_ONLY);
    const read = async (database: DatabaseSync) => {
      if ((await idOf(database)) !== idOfBackup) return null;
      const counter = database.prepare('SELECT number FROM log_counter').get();
      const { listCommandChanges } = commandChanges(sqliteAdapter(database, alone));
      return {
        log_number: (counter?.number as number | undefined) ?? 0,
        command_changes: await listCommandChanges(ALL),
      };
    };
    return await withDatabase(path, read, READ_ONLY);
  } catch {
    // It is damaged, which may be why it is replaced.
    return null;
  }
}

const ALL = -1;

const idOf = async (database: DatabaseSync) => (await useMarks(database).find())?.id;

/** A service that opens the database before the rename notices it later: see `database-file.ts`. */
async function replace(staged: string, path: string): Promise<string | null> {
  await refuseIfInUse(path);
  await acceptCopy(staged);
  sync(staged);
  const files = SUFFIXES.map((suffix) => `${path}${suffix}`).filter((file) => existsSync(file));
  let aside: string | null = null;
  if (files.length > 0) {
    // Windows refuses a colon in a file name.
    const time = new Date().toISOString().replaceAll(':', '-');
    aside = join(dirname(path), `before-restore-${time}`);
    mkdirSync(aside, { mode: 0o700 });
    // The database stays at its path until the new one replaces it there: a service that is started after a kill in
    // between must not create an empty one.
    if (existsSync(path)) keepAs(path, join(aside, basename(path)));
    // SQLite would apply a leftover log to the new database and corrupt it.
    for (const file of files) {
      if (file !== path) renameSync(file, join(aside, basename(file)));
    }
  }
  renameSync(staged, path);
  sync(dirname(path));
  rmSync(dirname(staged), { recursive: true, force: true });
  return aside;
}

function keepAs(path: string, other: string): void {
  try {
    linkSync(path, other);
  } catch {
    // This file system has no links.
    copyFileSync(path, other);
    sync(other);
  }
}
