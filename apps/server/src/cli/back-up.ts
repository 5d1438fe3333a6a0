import { formatTimestamp } from '@latchkey/schema';
import { sqlitePath } from '../database-url.ts';
import { loadSettings, refuseInMemory } from '../settings.ts';
import type { BackupContents } from '../store/sqlite/backup.ts';
import type { Terminal } from './terminal.ts';

export async function backUpDatabase(
  terminal: Terminal,
  file: string,
  { json }: { json?: boolean },
): Promise<void> {
  const path = databasePath(terminal, 'backed up');
  const { backUp } = await import('../store/sqlite/backup.ts');
  const contents = await backUp(path, file);
  const text = `${file} is a verified backup of ${path}: ${describeContents(contents)}.`;
  if (contents.foreign.length > 0) {
    terminal.stderr.write(
      `${file} cannot be restored: the database has what Latchkey did not make (${contents.foreign.join(', ')}). Drop it with sqlite3, then make another backup.\n`,
    );
  }
  await print(terminal, json, { object: 'backup', file, ...onWire(contents) }, text);
}

export function databasePath({ environment }: Terminal, verb: string): string {
  const settings = loadSettings(environment);
  refuseInMemory(settings);
  if (settings.databaseUrl.startsWith('file:')) return sqlitePath(settings.databaseUrl);
  throw new Error(
    `MongoDB is ${verb} with its own tools: a disk snapshot of the replica set, or ${verb === 'restored' ? 'mongorestore --oplogReplay, and then latchkey revoke-again' : 'mongodump --oplog'}. See docs/operations/mongodb.md, "Back up MongoDB".`,
  );
}

export function describeContents({ bytes, schema_version, ...counts }: BackupContents): string {
  const { applications, accounts, grants, made_at } = counts;
  const time = made_at === null ? '' : `, made at ${formatTimestamp(made_at)}`;
  return `${applications} applications, ${accounts} accounts and ${grants} grants in ${bytes} bytes, schema version ${schema_version}${time}`;
}

export const onWire = ({ made_at, foreign: _, ...contents }: BackupContents) => ({
  ...contents,
  made_at: made_at === null ? null : formatTimestamp(made_at),
});

export async function print(
  { stdout }: Terminal,
  json: boolean | undefined,
  object: object,
  text: string,
): Promise<void> {
  await stdout.write(`${json ? JSON.stringify(object) : text}\n`);
}
