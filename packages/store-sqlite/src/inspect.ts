import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { BadSetting } from '@latchkey/domain/bad-setting';
import type { Clock } from '@latchkey/domain/clock';
import { stillText } from '@latchkey/domain/still-text';
import { uuidFromBytes, uuidV7Time } from '@latchkey/schema';
import { checkRoom } from '@latchkey/store/disk-room';
import { type Finding, ok, problem, skipped, warning } from '@latchkey/store/finding';
import { checkSchemaVersion } from '@latchkey/store/inspect-server';
import { checkNewestRecord } from '@latchkey/store/newest-record';
import { SchemaMismatch } from '@latchkey/store/schema-version';
import type { OnStep } from '@latchkey/store/step';
import { UnusableDatabase } from '@latchkey/store/unusable-database';
import { checkUse } from '@latchkey/store/use-mark';
import { checkDamage } from './check-damage.ts';
import {
  isMountedAlone,
  MOUNT_THE_FOLDER,
  RIGHTS_OF_OTHERS,
  sizesOf,
  whyNotAlone,
} from './database-file.ts';
import { retryWhileLocked } from './errors.ts';
import { refuseForeign } from './foreign-file.ts';
import { nodeSqlite } from './node-sqlite.ts';
import { leftoversOf } from './partial-files.ts';
import { versionOf } from './schema.ts';
import { foreignObjects, objectsOf, ownObjects } from './schema-objects.ts';
import { useMarks } from './use-mark.ts';
import { whyIncomplete } from './wal-mark.ts';

const CREATED_BY_SERVE =
  'Check DATABASE_URL and the directory that you are in. latchkey serve creates a database.';

export async function* inspectSqlite(
  path: string,
  { clock, deep, onStep }: { clock: Clock; deep: boolean; onStep?: OnStep | undefined },
): AsyncGenerator<Finding> {
  try {
    accessSync(path, constants.R_OK);
  } catch (error) {
    const isForbidden = (error as NodeJS.ErrnoException).code === 'EACCES';
    yield isForbidden
      ? problem('rights', `This user may not read ${path}.`, 'Run as the user of the service.')
      : problem('store', `There is no database at ${path}.`, CREATED_BY_SERVE);
    yield* checkLeftovers([path]);
    return;
  }
  let database: DatabaseSync;
  let version: number;
  try {
    refuseForeign(path);
    database = new (nodeSqlite().DatabaseSync)(path, { readOnly: true });
    version = await retryWhileLocked(() => versionOf(database, path));
  } catch (error) {
    const check = error instanceof SchemaMismatch ? 'version' : 'store';
    yield error instanceof BadSetting || error instanceof UnusableDatabase
      ? problem(check, error.message, 'The rest was not looked at.')
      : problem(
          'store',
          `The SQLite database ${path} cannot be read: ${error instanceof Error ? error.message : error}.`,
          'Check that DATABASE_URL names a database of Latchkey, and that no other program holds it locked.',
        );
    return;
  }
  try {
    if (version === 0) {
      yield problem('store', `${path} is not a database of Latchkey.`, CREATED_BY_SERVE);
      return;
    }
    yield ok('store', `SQLite, ${resolve(path)}`);
    yield* checkObjects(database);
    onStep?.({ text: 'checking the pages of the file' });
    yield await checkDamage(path, { deep });
    const sqlite = database.prepare('SELECT sqlite_version() AS version').get()?.version;
    yield checkSchemaVersion(`SQLite ${sqlite}`, version);
    const mark = await useMarks(database).find();
    yield* checkUse(mark);
    const why = whyIncomplete(database, path);
    if (why !== null) yield problem('store', why, 'The service does not start until then.');
    yield checkTopology(path);
    yield checkIndexes(database);
    yield* checkRights(path);
    yield ok('write_concern', 'Each commit waits for the disk (synchronous is FULL).');
    yield checkNewestRecord(newestGrant(database), clock);
    yield skipped('tls', 'SQLite uses no network.');
    yield* checkLeftovers([path, mark?.backup_file ?? path]);
    yield checkRoom('The disk', sizesOf(path));
  } finally {
    database.close();
  }
}

/** Magic numbers of network file systems, from statfs(2). */
const NETWORK = new Map([
  [0x6969, 'NFS'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
]);

function checkTopology(path: string): Finding {
  if (isMountedAlone(path)) return problem('topology', whyNotAlone(path), MOUNT_THE_FOLDER);
  const name = NETWORK.get(statfsSync(path).type);
  if (name === undefined) {
    return ok('topology', 'A file on a local disk. Every process of the service runs here.');
  }
  return problem(
    'topology',
    `The file is on a network file system (${name}), whose locks SQLite cannot rely on.`,
    'Move it to a local disk, or use another database: latchkey copy moves one.',
  );
}

function checkIndexes(database: DatabaseSync): Finding {
  const present = new Set(objectsOf(database).map(({ name }) => name));
  const missing = ownObjects().filter(({ type, name }) => type === 'index' && !present.has(name));
  if (missing.length === 0) return ok('indexes', 'All indexes are there.');
  return problem(
    'indexes',
    `Indexes are missing: ${missing.map(({ name }) => name).join(', ')}. Lists read every grant.`,
    `Run with sqlite3: ${missing.map(({ sql }) => `${sql};`).join(' ')}`,
  );
}

function* checkObjects(database: DatabaseSync): Generator<Finding> {
  const { tables, refused } = foreignObjects(database);
  if (tables.length > 0) {
    yield ok(
      'store',
      `Another program, such as a replicator, has tables in it: ${tables.map(stillText).join(', ')}. Backups leave them behind.`,
    );
  }
  if (refused.length === 0) return;
  yield problem(
    'store',
    `The database has what Latchkey did not make: ${refused.join(', ')}. It can change what a write does, and no backup is made with it.`,
    'Find out who made it, then drop it with sqlite3.',
  );
}

function* checkRights(path: string): Generator<Finding> {
  const unwritable = [path, dirname(path)].filter((place) => {
    try {
      accessSync(place, constants.R_OK | constants.W_OK);
      return false;
    } catch {
      return true;
    }
  });
  if (unwritable.length > 0) {
    yield problem(
      'rights',
      `This user cannot read and write ${unwritable.join(' and ')}.`,
      'Run as the user of the service, or give this user the file and its directory.',
    );
    return;
  }
  const { mode, uid } = statSync(path);
  if (process.platform !== 'win32' && (mode & RIGHTS_OF_OTHERS) !== 0) {
    yield warning(
      'rights',
      `Other users of this machine can read or write ${path} (mode ${(mode & 0o777).toString(8)}).`,
      uid === process.getuid?.()
        ? 'Check who has copies of it. latchkey takes these rights off when it opens the file.'
        : `Let its owner run chmod 600 ${path}`,
    );
  } else if (uid !== process.getuid?.()) {
    yield warning(
      'rights',
      `${path} belongs to another user than the one that runs this command.`,
      'Run commands as the user of the service: what another user creates beside it, the service may not be able to write.',
    );
  } else {
    yield ok('rights', 'Only this user can read and write the file.');
  }
}

function newestGrant(database: DatabaseSync): number | null {
  const row = database.prepare('SELECT id FROM grants ORDER BY id DESC LIMIT 1').get();
  return row === undefined ? null : uuidV7Time(uuidFromBytes(row.id as Uint8Array));
}

function* checkLeftovers(paths: readonly string[]): Generator<Finding> {
  for (const left of new Set(paths.flatMap(leftoversOf))) {
    yield warning(
      'disk',
      `A backup or a restore that was killed left ${left}, which has personal data.`,
      'Delete it. The next one to the same place does that, too.',
    );
  }
}
