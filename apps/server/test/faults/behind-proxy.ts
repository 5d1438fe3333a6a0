import { isDurableWrite, MongodbProxy, urlThrough } from '@latchkey/test-kit/mongodb/proxy';
import { dropDatabase, freshName, urlOf } from '@latchkey/test-kit/mongodb/test-databases';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { startTestServer, type TestServer } from '../http/running-server.ts';

/**
 * Makes a call of which one command is stopped on its way; the store settles it all the same.
 *
 * @param which - of the call's commands, from 1: the first may be a guess that matches nothing
 */
export async function overtaken<T>(proxy: MongodbProxy, call: () => Promise<T>, which = 1) {
  let sent = 0;
  const holding = proxy.holdNext((command) => isDurableWrite(command) && ++sent === which);
  const answering = call();
  const held = await Promise.race([holding, answering.then(() => undefined)]);
  proxy.passAll();
  if (held === undefined) throw new Error('The call was answered without that command.');
  held.cut();
  return { answer: await answering, arrive: () => held.execute() };
}

/** Two services on one database: one whose way there can be made to fail, and one that looks on. */
export interface FaultyService {
  proxy: MongodbProxy;
  server: TestServer;
  witness: TestServer;
  /** An application, as set up through the witness. */
  linked: LinkedApplication;
  /** A database of its own, directly. */
  url: string;
  stop(): Promise<void>;
}

/**
 * @param options - of the URL of the service that fails. The driver's own repetition of a write is
 *   off, unless told: what is tried here is what the store does by itself, which is all there is
 *   where the server keeps no record of writes.
 */
export async function startBehindProxy(
  mongodb: string,
  options: Record<string, string> = {},
): Promise<FaultyService> {
  const name = freshName();
  const url = urlOf(mongodb, name);
  const proxy = await MongodbProxy.start(mongodb);
  const witness = await startTestServer(url);
  const server = await startTestServer(
    urlThrough(proxy, url, { retryWrites: 'false', ...options }),
  );
  const linked = await linkedApplication(witness);
  // The use of its secret is noted by the first request of each process, behind it.
  await witness.service.useNotes.flush();
  return {
    ...{ proxy, server, witness, linked, url },
    async stop() {
      proxy.passAll();
      await proxy.restore();
      await server.close();
      await witness.close();
      await proxy.stop();
      await dropDatabase(mongodb, name);
    },
  };
}
