import { resolve } from 'node:path';
import type { StoreDriver } from '@latchkey/store/store-driver';
import { followLink } from './follow-link.ts';

export const driver: StoreDriver = {
  system: 'sqlite',
  schemes: ['file:'],
  inProcess: true,
  makesBackups: true,

  fileOf(url) {
    const path = pathOf(url);
    return path === ':memory:' ? null : resolve(path);
  },

  async open(url, options) {
    const { openSqliteStore } = await import('./sqlite-store.ts');
    return openSqliteStore({ path: pathOf(url), ...options });
  },

  async openSource(url, options = {}) {
    const { openSqliteSource } = await import('./transfer.ts');
    return openSqliteSource(pathOf(url), options);
  },

  async openTarget(url) {
    const { openSqliteTarget } = await import('./transfer.ts');
    return openSqliteTarget(pathOf(url));
  },

  async *inspect(url, options) {
    const { inspectSqlite } = await import('./inspect.ts');
    yield* inspectSqlite(pathOf(url), options);
  },

  async backUp(url, file, onStep) {
    const { backUp } = await import('./backup.ts');
    const database = pathOf(url);
    return { database, contents: await backUp(database, file, onStep) };
  },

  async stageBackup(url, file, onStep) {
    const { stageBackup } = await import('./restore.ts');
    return stageBackup(file, pathOf(url), onStep);
  },
};

/** @param url - one without a fault: `apps/server/src/database-url.ts` */
export function pathOf(url: string): string {
  return followLink(url.replace(/^file:(?:\/\/(?=\/))?/, ''));
}
