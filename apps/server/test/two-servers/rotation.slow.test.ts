import { setTimeout as sleep } from 'node:timers/promises';
import { longer } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { type HttpResponse, invoke, succeed, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import {
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(3, 60);
const CLIENTS = 6;
// Each client completes this many calls between two steps of a rotation.
const CALLS_A_STEP = 3;

/** A client of the application that calls without a pause, on both servers and both wires. */
class BusyClient {
  /** The secret for its next call. */
  secret: string;
  readonly failures: string[] = [];
  completed = 0;
  readonly #servers: readonly { url: string }[];
  readonly #linked: LinkedApplication;
  #stopping = false;
  readonly #done: Promise<void>;

  constructor(servers: readonly { url: string }[], linked: LinkedApplication) {
    this.#servers = servers;
    this.#linked = linked;
    this.secret = linked.secret;
    this.#done = this.#work();
  }

  /** Resolves when so many more calls have completed, all of which started from now on. */
  async calls(count: number): Promise<void> {
    // One call may have started already.
    const enough = this.completed + 1 + count;
    while (this.completed < enough) await Promise.race([this.#done, sleep(1)]);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#done;
  }

  async #work(): Promise<void> {
    while (!this.#stopping) {
      const { code, grant_id } = await this.#linked.issue();
      await this.#call('grants.convert', { code });
      const { body: grant } = await this.#call('grants.recover', { grant_id });
      await this.#call('account.get', {}, asBearer(grant));
      await this.#call('account.grant', {}, asBasic(grant));
      await this.#call('grants.revoke', { grant_id });
    }
  }

  async #call(...[name, input, as]: [Parameters<typeof invoke>[2], object, string?]) {
    const turn = this.completed;
    const server = this.#servers[turn % 2] as { url: string };
    const wire = wires[Math.floor(turn / 2) % 2] as (typeof wires)[number];
    const response: HttpResponse & { body: HttpResponse['json'] } = await invoke(
      server,
      wire,
      name,
      { ...input },
      as ?? `Bearer ${this.secret}`,
    );
    if (response.status !== 200) {
      this.failures.push(`${name}: ${response.status} ${response.body.error_code}`);
    }
    this.completed += 1;
    return response;
  }
}

describeOnEachStore('the rotation of an application secret under load', (fresh) => {
  const servers = useTwoServers(fresh);

  test('fails no request', async () => {
    const linked = await linkedApplication(servers[0]);
    const { application_id } = linked;
    const clients = Array.from({ length: CLIENTS }, () => new BusyClient(servers, linked));
    const stepDone = () => Promise.all(clients.map((client) => client.calls(CALLS_A_STEP)));
    const retired: string[] = [];
    let current = { id: linked.secret_id, secret: linked.secret };

    for (let round = 0; round < ROUNDS; round++) {
      const [one, other] = round % 2 ? [servers[1], servers[0]] : servers;
      await stepDone();
      const next = await succeed(
        one,
        'admin.applications.secrets.create',
        { application_id },
        operator,
      );
      for (const client of clients) {
        client.secret = next.secret;
        await client.calls(1);
      }
      await stepDone();
      await succeed(
        other,
        'admin.applications.secrets.revoke',
        { application_id, secret_id: current.id },
        operator,
      );
      retired.push(current.secret);
      current = next;
    }
    await stepDone();
    await Promise.all(clients.map((client) => client.stop()));

    expect(clients.flatMap(({ failures }) => failures)).toEqual([]);
    for (const server of servers) {
      for (const secret of retired) {
        const input = { grant_id: application_id };
        const { status } = await invoke(server, 'REST', 'grants.revoke', input, `Bearer ${secret}`);
        expect(status).toBe(401);
      }
    }
  });
});
