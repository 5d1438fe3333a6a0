import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { type Answer, invoke, succeed, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import {
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { longer } from '../long.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(3, 60);
const CLIENTS = 6;
// Each client has this many calls answered between the steps of a rotation.
const CALLS_A_STEP = 3;

/** A part of the application: makes one call after the other, on both servers and both wires. */
class BusyClient {
  /** The secret of its next call. */
  secret: string;
  readonly failures: string[] = [];
  answered = 0;
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

  /** Resolves when so many more calls are answered, all of which began from now on. */
  async calls(count: number): Promise<void> {
    // One may be under way.
    const enough = this.answered + 1 + count;
    while (this.answered < enough) await Promise.race([this.#done, sleep(1)]);
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
    const turn = this.answered;
    const server = this.#servers[turn % 2] as { url: string };
    const wire = wires[Math.floor(turn / 2) % 2] as (typeof wires)[number];
    const answer: Answer & { body: Answer['json'] } = await invoke(
      server,
      wire,
      name,
      { ...input },
      as ?? `Bearer ${this.secret}`,
    );
    if (answer.status !== 200) {
      this.failures.push(`${name}: ${answer.status} ${answer.body.error_code}`);
    }
    this.answered += 1;
    return answer;
  }
}

describeOnEachStore('the rotation of an application secret under load', (fresh) => {
  const servers = useTwoServers(fresh);

  test('costs not one request', { timeout: 120_000 }, async () => {
    const linked = await linkedApplication(servers[0]);
    const { application_id } = linked;
    const clients = Array.from({ length: CLIENTS }, () => new BusyClient(servers, linked));
    const answered = () => Promise.all(clients.map((client) => client.calls(CALLS_A_STEP)));
    const retired: string[] = [];
    let current = { id: linked.secret_id, secret: linked.secret };

    for (let round = 0; round < ROUNDS; round++) {
      const [one, other] = round % 2 ? [servers[1], servers[0]] : servers;
      await answered();
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
      await answered();
      await succeed(
        other,
        'admin.applications.secrets.revoke',
        { application_id, secret_id: current.id },
        operator,
      );
      retired.push(current.secret);
      current = next;
    }
    await answered();
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
