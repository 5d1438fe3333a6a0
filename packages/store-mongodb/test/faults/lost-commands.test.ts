import { StoreProcess } from '@latchkey/store-suite/child';
import { describeFaults, type FaultyDatabase, faultsOf } from '@latchkey/store-suite/faults';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import {
  type HeldCommand,
  isDurableWrite,
  lookAtOnce,
  MongodbProxy,
  urlThrough,
} from '@latchkey/test-kit/mongodb/proxy';
import {
  dropDatabase,
  freshName,
  nodeArgumentsFor,
  urlOf,
} from '@latchkey/test-kit/mongodb/test-databases';
import { nameOf } from '@latchkey/test-kit/mongodb/wire-messages';
import type { Document } from 'mongodb';
import { openMongoStore } from '../../src/mongo-store.ts';

const module = new URL('../../src/driver.ts', import.meta.url).href;

/** Not those by which the driver watches the server. */
const isOfDatabase = ({ $db = 'admin' }: Document) => $db !== 'admin';
const isWrite = (command: Document) => isDurableWrite(command) || nameOf(command) === 'delete';

/** Without the repetitions of the driver: what is tried is what the store does. */
async function faultyDatabase(server: string): Promise<FaultyDatabase> {
  const name = freshName();
  const url = urlOf(server, name);
  const proxy = await MongodbProxy.start(server);
  const options = { clock: Date.now, recordsEvents: true };
  const through = urlThrough(proxy, url, { ...lookAtOnce, retryWrites: 'false' });
  const witness = await openMongoStore({ url, ...options });
  const store = await openMongoStore({ url: through, ...options });

  return {
    ...{ store, witness },
    ...faultsOf({
      hold: (matches, handle: (held: HeldCommand) => void) => proxy.hold(matches, handle),
      passAll: () => proxy.passAll(),
      matches: { all: isOfDatabase, writes: isWrite },
      end: (command) => command.cut(),
      start: () =>
        StoreProcess.start({ module, url: through, nodeArguments: nodeArgumentsFor(url) }),
    }),
    async refuse() {
      await proxy.refuse();
      // The driver sees by it that its connections are gone.
      await store.ping().catch(() => undefined);
    },
    restore: () => proxy.restore(),
    async remove() {
      await proxy.restore();
      await Promise.all([store.close(), witness.close()]);
      await proxy.stop();
      await dropDatabase(server, name);
    },
  };
}

describeOnMongodb('a command that is lost', (server) =>
  describeFaults({
    fresh: () => faultyDatabase(server),
    losses: ['late', 'after'],
    isRemote: true,
    kills: [1, 8],
    file: '../faults.txt',
  }),
);
