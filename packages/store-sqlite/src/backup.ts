import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Milliseconds } from '@latchkey/domain/clock';
import { stillText } from '@latchkey/domain/still-text';
import type { BackupContents } from '@latchkey/store/backup';
import type { OnStep } from '@latchkey/store/step';
import type { UseMark } from '@latchkey/store/use-mark';
import { runAside } from './aside.ts';
import { cacheFor } from './check-damage.ts';
import { bytesOf, sizeOf } from './database-file.ts';
import { retryWhileLocked } from './errors.ts';
import { followLink } from './follow-link.ts';
import { refuseForeign } from './foreign-file.ts';
import { nodeSqlite, READ_ONLY, withDatabase } from './node-sqlite.ts';
import { partialOf, removeLeftovers, sync } from './partial-files.ts';
import { versionOf } from './schema.ts';
import { dropForeignTables, refuseForeignObjects } from './schema-objects.ts';
import { useMarks } from './use-mark.ts';
import { closeDatabase, refuseIncomplete, SET_COMPLETE } from './wal-mark.ts';

/** Only a backup has this table. A backup replaces no file without it. */
const LABEL = 'latchkey_backup';

/** @throws Error that says what to do; then `file` is as it was */
export async function backUp(
  path: string,
  file: string,
  onStep: OnStep = () => {},
): Promise<BackupContents> {
  const destination = followLink(file);
  if (!existsSync(path)) {
    throw new Error(
      `There is no database at ${path}. Check DATABASE_URL and the directory that you are in.`,
    );
  }
  if (!existsSync(dirname(destination))) {
    throw new Error(
      `There is no directory ${dirname(destination)} for the backup: create it first.`,
    );
  }
  refuseForeign(path);
  const source = new (nodeSqlite().DatabaseSync)(path, READ_ONLY);
  const partial = partialOf(destination);
  const made_at = Date.now();
  let contents: BackupContents;
  try {
    const schema_version = await retryWhileLocked(() => versionOf(source, path));
    if (schema_version === 0) throw new Error(`${path} is not a database of Latchkey.`);
    refuseIncomplete(source, path);
    refuseForeignObjects(source, path);
    await refuseToReplace(destination, path);
    removeLeftovers(destination);
    // For `latchkey doctor`, should this be killed.
    await note(path, { backup_file: resolve(destination) });
    writeFileSync(partial, '', { flag: 'wx', mode: 0o600 });
    const before = countGrants(source);
    onStep({ text: 'copying the database', share: () => sizeOf(partial) / sizeOf(path) });
    await runAside({ path, statement: 'VACUUM INTO ?', values: [partial] });
    const after = countGrants(source);
    await label(partial, made_at);
    contents = await verify(partial, destination, onStep);
    // No grant is ever deleted.
    if (
      contents.schema_version !== schema_version ||
      contents.grants < before ||
      contents.grants > after
    ) {
      throw new Error(
        `it has ${contents.grants} grants of schema version ${contents.schema_version}, and the database ${before} to ${after} of version ${schema_version}`,
      );
    }
    sync(partial);
    renameSync(partial, destination);
    sync(dirname(destination));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`No backup was made of ${path}: ${reason}`, { cause: error });
  } finally {
    source.close();
    for (const suffix of ['', '-journal']) rmSync(`${partial}${suffix}`, { force: true });
  }
  await note(path, { backed_up_at: made_at });
  return contents;
}

/** @param name - what messages call it */
export async function verify(file: string, name: string, onStep: OnStep): Promise<BackupContents> {
  onStep({ text: 'checking the copy' });
  async function read(database: DatabaseSync): Promise<BackupContents> {
    const schema_version = versionOf(database, name);
    const count = (table: string) => numberOf(database, `SELECT count(*) AS number FROM ${table}`);
    if (schema_version === 0 || !hasTable(database, 'grants')) {
      throw new Error(`${name} is not a backup of Latchkey.`);
    }
    refuseForeignObjects(database, name);
    const statement = 'PRAGMA integrity_check(1)';
    const [problem] = await runAside({ path: file, setup: cacheFor(file), statement });
    if (problem?.integrity_check !== 'ok') {
      const found = stillText(`${problem?.integrity_check}`);
      throw new Error(`${name} is damaged (${found}): use another backup.`);
    }
    return {
      bytes: sizeOf(file),
      schema_version,
      applications: count('applications WHERE deleted_at IS NULL'),
      accounts: count('accounts WHERE place IS NOT NULL'),
      grants: countGrants(database),
      made_at: hasTable(database, LABEL)
        ? numberOf(database, `SELECT made_at AS number FROM ${LABEL}`)
        : null,
    };
  }
  try {
    return await withDatabase(file, read, READ_ONLY);
  } catch (error) {
    // https://sqlite.org/rescode.html: 11 is CORRUPT, 26 NOTADB.
    const code = error instanceof Error && 'errcode' in error ? error.errcode : null;
    if (code === 26) throw new Error(`${name} is not a backup of Latchkey.`, { cause: error });
    if (code === 11) throw new Error(`${name} is damaged: use another backup.`, { cause: error });
    throw error;
  }
}

/** Such as the label, and those of a replicator. */
export const removeForeignTables = (file: string): Promise<void> =>
  withDatabase(file, dropForeignTables);

/** Of a copy that another program made while the database was in use: the operator has decided to restore it. */
export const acceptCopy = (file: string): Promise<void> =>
  withDatabase(file, (database) => database.exec(SET_COMPLETE));

const label = (file: string, made_at: Milliseconds): Promise<void> =>
  withDatabase(file, (database) => {
    dropForeignTables(database);
    database.exec(`CREATE TABLE ${LABEL} (made_at INTEGER NOT NULL) STRICT`);
    database.prepare(`INSERT INTO ${LABEL} (made_at) VALUES (?)`).run(made_at);
    // The database that it was copied from is in use. This file needs no log.
    database.exec(SET_COMPLETE);
  });

/** For a commit of the service: a few milliseconds. */
const NOTE_WAITS: Milliseconds = 5_000;

/** If that fails, the age of the backup goes on growing, and an alert says so. */
async function note(
  path: string,
  members: Pick<UseMark, 'backed_up_at' | 'backup_file'>,
): Promise<void> {
  let database: DatabaseSync | undefined;
  try {
    database = new (nodeSqlite().DatabaseSync)(path);
    database.exec(`PRAGMA busy_timeout = ${NOTE_WAITS}`);
    const marks = useMarks(database);
    const mark = await marks.find();
    if (mark !== null) await marks.replace(mark, { ...mark, ...members });
  } catch {
    // The backup itself needs no right to write the database.
  } finally {
    if (database !== undefined) closeDatabase(database, path);
  }
}

async function refuseToReplace(destination: string, path: string): Promise<void> {
  if (resolve(destination) === resolve(path)) {
    throw new Error(`${destination} is the database itself: name another file.`);
  }
  if (existsSync(destination) && !(await isBackup(destination))) {
    throw new Error(
      `${destination} exists and is not a backup of Latchkey: name another file, or move this one away.`,
    );
  }
  // A restore would take the backup for a database whose latest writes are there.
  if (sizeOf(`${destination}-wal`) > 0) {
    throw new Error(
      `${destination}-wal is the log of another database: name another file, or move the log away.`,
    );
  }
}

async function isBackup(file: string): Promise<boolean> {
  // A backup that was opened as a database has a log. Asking SQLite would create the log's files.
  // The read version: https://sqlite.org/fileformat2.html#file_format_version_numbers.
  if (bytesOf(file, 19, 1)[0] === 2) return false;
  try {
    return await withDatabase(file, (database) => hasTable(database, LABEL), READ_ONLY);
  } catch {
    return false;
  }
}

function hasTable(database: DatabaseSync, name: string): boolean {
  const find = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
  return find.get(name) !== undefined;
}

function countGrants(database: DatabaseSync): number {
  return numberOf(
    database,
    `SELECT (SELECT count(*) FROM grants)
      - (SELECT count(*) FROM grants WHERE code_expires_at IS NOT NULL) AS number`,
  );
}

function numberOf(database: DatabaseSync, query: string): number {
  return database.prepare(query).get()?.number as number;
}
