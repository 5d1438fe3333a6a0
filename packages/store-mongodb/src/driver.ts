import type { StoreDriver } from '@latchkey/store/store-driver';

export const driver: StoreDriver = {
  system: 'mongodb',
  schemes: ['mongodb://', 'mongodb+srv://'],
  inProcess: false,
  makesBackups: false,

  fileOf: () => null,

  async open(url, options) {
    const { openMongoStore } = await import('./mongo-store.ts');
    return openMongoStore({ url, ...options });
  },

  async openSource(url) {
    const { openMongoSource } = await import('./transfer.ts');
    return openMongoSource(url);
  },

  async openTarget(url) {
    const { openMongoTarget } = await import('./transfer.ts');
    return openMongoTarget(url);
  },

  async *inspect(url, { clock, reducesRevoked }) {
    const { inspectMongodb } = await import('./inspect.ts');
    yield* inspectMongodb(url, clock, { reducesRevoked });
  },

  async backUp() {
    throw ownTools('backed up', 'mongodump --oplog');
  },

  async stageBackup() {
    throw ownTools('restored', 'mongorestore --oplogReplay, and then latchkey revoke-again');
  },
};

const ownTools = (verb: string, tools: string) =>
  new Error(
    `MongoDB is ${verb} with its own tools: a disk snapshot of the replica set, or ${tools}. See docs/operations/mongodb.md, "Back up MongoDB".`,
  );
