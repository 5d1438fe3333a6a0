import { formatTimestamp } from '@latchkey/schema';
import type { BackupContents } from '@latchkey/store/backup';
import { driverOf } from '../open-store.ts';
import { loadSettings, refuseInMemory } from '../settings.ts';
import { print } from './print.ts';
import type { Terminal } from './terminal.ts';

export async function backUpDatabase(
  terminal: Terminal,
  file: string,
  { json }: { json?: boolean },
): Promise<void> {
  const url = databaseUrl(terminal);
  const { database, contents } = await driverOf(url).backUp(url, file, terminal.showStep);
  const text = `${file} is a verified backup of ${database}: ${describeContents(contents)}.`;
  await print(terminal, json, { object: 'backup', file, ...onWire(contents) }, text);
}

export function databaseUrl({ environment }: Terminal): string {
  const settings = loadSettings(environment);
  refuseInMemory(settings);
  return settings.databaseUrl;
}

export function describeContents({ bytes, schema_version, ...counts }: BackupContents): string {
  const { applications, accounts, grants, made_at } = counts;
  const time = made_at === null ? '' : `, made at ${formatTimestamp(made_at)}`;
  return `${applications} applications, ${accounts} accounts and ${grants} grants in ${bytes} bytes, schema version ${schema_version}${time}`;
}

export const onWire = ({ made_at, ...contents }: BackupContents) => ({
  ...contents,
  made_at: made_at === null ? null : formatTimestamp(made_at),
});
