import type { StoreDriver } from '@latchkey/store/store-driver';
import { addressFault } from './address.ts';

export const driver: StoreDriver = {
  system: 'postgresql',
  schemes: ['postgres://', 'postgresql://'],
  inProcess: false,
  makesBackups: false,

  addressFault,
  fileOf: () => null,

  async open(url, options) {
    const { openPostgresqlStore } = await import('./postgresql-store.ts');
    return openPostgresqlStore({ url, ...options });
  },

  async openSource(url) {
    const { openPostgresqlSource } = await import('./transfer.ts');
    return openPostgresqlSource(url);
  },

  async openTarget(url) {
    const { openPostgresqlTarget } = await import('./transfer.ts');
    return openPostgresqlTarget(url);
  },

  async *inspect(url, { clock, reducesRevoked }) {
    const { inspectPostgresql } = await import('./inspect.ts');
    yield* inspectPostgresql(url, clock, { reducesRevoked });
  },

  async backUp() {
    throw ownTools('backed up', 'pg_basebackup with the archived WAL, or pg_dump');
  },

  async stageBackup() {
    throw ownTools('restored', 'pg_restore, and then latchkey revoke-again');
  },
};

const ownTools = (verb: string, tools: string) =>
  new Error(
    `PostgreSQL is ${verb} with its own tools: ${tools}. See docs/operations/postgresql.md, "Back up PostgreSQL".`,
  );
