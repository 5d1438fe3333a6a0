import { setTimeout as sleep } from 'node:timers/promises';
import { longer } from '@latchkey/test-kit/long';
import { describeOnMongodb } from '@latchkey/test-kit/mongodb/describe';
import { describe, expect, test } from 'vitest';
import { type Json, requestOf, send } from '../http/call.ts';
import { type FreshDatabase, mongoDatabase, sqliteDatabase } from '../http/databases.ts';
import { asBearer, type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { ServerProcess } from '../http/served-process.ts';
import { isInstalled, proxyKinds, startProxy } from './proxy.ts';

// Both processes are restarted once in each round.
const ROUNDS = longer(1, 10);
const REQUESTS = 2_000;
const CLIENTS = 8;
const SETTINGS = { TRUST_PROXY: 'true', DRAIN_SECONDS: '3' };

/** Restarts a process on its port. Resolves when it has handled a request of a client. */
async function restart(server: ServerProcess, goesOn: () => boolean): Promise<void> {
  expect(await server.stop()).toBe(0);
  await server.restart({ PORT: new URL(server.url).port });
  const isUsed = () => server.command.run.stderr.includes('"route":"/v1/account"');
  while (!isUsed() && goesOn()) await sleep(20);
}

/** Clients that link, use and unlink accounts until they are told to stop. */
class Clients {
  completed = 0;
  readonly failures: string[] = [];
  readonly #url: string;
  readonly #linked: LinkedApplication;
  #stopping = false;
  readonly #done: Promise<unknown>;

  constructor(url: string, linked: LinkedApplication) {
    this.#url = url;
    this.#linked = linked;
    this.#done = Promise.all(Array.from({ length: CLIENTS }, () => this.#work()));
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#done;
  }

  async #work(): Promise<void> {
    const { application_id, account_id, bearer } = this.#linked;
    while (!this.#stopping) {
      const issue = { application_id, account_id, scope: 'read' };
      const { code } = await this.#call('admin.codes.issue', issue, operator);
      if (code === undefined) continue;
      const grant = await this.#call('grants.convert', { code }, bearer);
      if (grant.grant_secret === undefined) continue;
      await this.#call('account.get', {}, asBearer(grant));
      await this.#call('account.grant', {}, asBearer(grant));
      await this.#call('grants.revoke', { grant_id: grant.grant_id }, bearer);
    }
  }

  async #call(
    name: Parameters<typeof requestOf>[1],
    input: object,
    authorization: string,
  ): Promise<Json> {
    const request = requestOf('REST', name, { ...input });
    try {
      const { status, text, json } = await send({ url: this.#url }, { ...request, authorization });
      if (status === 200) return json;
      this.failures.push(`${name}: ${status} ${text}`);
    } catch (error) {
      this.failures.push(`${name}: ${String(error)} ${String((error as Error).cause)}`);
    } finally {
      this.completed += 1;
    }
    return {};
  }
}

async function restartUnderLoad(
  kind: (typeof proxyKinds)[number],
  fresh: FreshDatabase,
): Promise<void> {
  const database = await fresh();
  const processes = await Promise.all(
    [1, 2].map(() => ServerProcess.start(database.url, { environment: SETTINGS })),
  );
  const proxy = await startProxy(
    kind,
    processes.map(({ url }) => url),
  );
  const clients = new Clients(proxy.url, await linkedApplication(proxy));
  // The settings of the example are right for TRUST_PROXY, too.
  const { json } = await send(proxy, { method: 'GET', path: '/openapi.json' });
  expect(json.servers).toEqual([{ url: proxy.url }]);
  const goesOn = () => clients.failures.length <= mayLose(kind);
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const process of processes) await restart(process, goesOn);
    }
    while (clients.completed < REQUESTS && goesOn()) await sleep(20);
  } finally {
    await clients.stop();
    await proxy.stop();
    await Promise.all(processes.map((process) => process.stop()));
    await database.remove();
  }
  // Shown whole: which requests failed, and how.
  const tooMany = clients.failures.length > mayLose(kind) ? clients.failures : [];
  expect(tooMany, proxy.output()).toEqual([]);
}

// nginx does not repeat a POST that it has sent. A few may be on connections that the process has not
// accepted when it stops listening. HAProxy has learned from `/readyz` by then to send nothing.
function mayLose({ program }: (typeof proxyKinds)[number]): number {
  return program === 'nginx' ? 6 * ROUNDS : 0;
}

for (const kind of proxyKinds) {
  if (isInstalled(kind.program)) {
    const title = `two processes restarted in turn behind ${kind.program}`;
    const suite = (fresh: FreshDatabase) =>
      test('fail no request, or with nginx a few', { timeout: 180_000 * ROUNDS }, () =>
        restartUnderLoad(kind, fresh),
      );
    // What a proxy makes of a restart is not up to the store, so each has another one.
    if (kind.program === 'nginx') describe(`${title} on SQLite`, () => suite(sqliteDatabase));
    else describeOnMongodb(title, (server) => suite(() => mongoDatabase(server)));
  } else {
    describe.skip(`behind ${kind.program} (not run: it is not installed)`, () =>
      test('is the same'));
  }
}
