import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { invoke, type Json, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { asBasic, asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { longer } from '../long.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(8, 400);
const EXPIRIES = longer(2, 60);

type Server = { url: string };

/** Who is let in, by the Authorization headers: on each server, over each wire. */
async function letIn(
  servers: readonly Server[],
  secrets: readonly string[],
  grants: readonly string[] = [],
): Promise<boolean[]> {
  const calls = servers.flatMap((server) =>
    wires.flatMap((wire) => [
      // To revoke what there isn't is refused only after authenticating.
      ...secrets.map((secret) =>
        invoke(server, wire, 'grants.revoke', { grant_id: randomUUID() }, `Bearer ${secret}`),
      ),
      ...grants.map((grant) => invoke(server, wire, 'account.get', {}, grant)),
    ]),
  );
  const answers = await Promise.all(calls);
  return answers.map(({ status }) => {
    expect([200, 401, 404]).toContain(status);
    return status !== 401;
  });
}

const everybody = (answers: boolean[]) => answers.every((isIn) => isIn);
const nobody = (answers: boolean[]) => !answers.some((isIn) => isIn);

describeOnEachStore('what an operator changes on one server process', (fresh) => {
  const servers = useTwoServers(fresh);

  /** The operator's call of a round, and the two servers: first the one that it is not sent to. */
  function inRound(round: number) {
    const [near, far] = round % 2 ? [servers[1], servers[0]] : servers;
    const wire = wires[Math.floor(round / 2) % 2] ?? 'REST';
    const change = async (
      name: OperationName,
      input: Record<string, unknown>,
      at: Server = near,
    ): Promise<Json> => {
      const { status, body } = await invoke(at, wire, name, input, operator);
      expect(status).toBe(200);
      return body;
    };
    return { near, far, change, both: [far, near] };
  }

  test('to disable and to enable an application, holds on the other from the next request on', {
    timeout: 120_000,
  }, async () => {
    const { application_id, secret, link } = await linkedApplication(servers[0]);
    for (let round = 0; round < ROUNDS; round++) {
      const { far, change, both } = inRound(round);
      const [used, unused] = [await link(), await link()];
      // Both servers have just seen all of it at work.
      const headers = [asBearer(used), asBasic(used)];
      expect(await letIn(both, [secret], headers)).toSatisfy(everybody);

      await change('admin.applications.disable', { application_id });
      expect(await letIn([far], [secret], [...headers, asBearer(unused)])).toSatisfy(nobody);
      expect(await letIn(both, [secret], [...headers, asBearer(unused)])).toSatisfy(nobody);

      await change('admin.applications.enable', { application_id }, far);
      expect(await letIn(both.toReversed(), [secret], headers)).toSatisfy(everybody);
      expect(await letIn(both, [secret], [asBearer(unused)])).toSatisfy(everybody);
    }
  });

  test('to add and to remove a secret, holds on the other from the next request on', {
    timeout: 120_000,
  }, async () => {
    const { application_id, secret } = await linkedApplication(servers[0]);
    for (let round = 0; round < ROUNDS; round++) {
      const { far, change, both } = inRound(round);
      const added = await change('admin.applications.secrets.create', { application_id });
      expect(await letIn([far], [added.secret, secret])).toSatisfy(everybody);
      expect(await letIn(both, [added.secret, secret])).toSatisfy(everybody);

      await change('admin.applications.secrets.revoke', { application_id, secret_id: added.id });
      expect(await letIn([far], [added.secret])).toSatisfy(nobody);
      expect(await letIn(both, [added.secret])).toSatisfy(nobody);
      expect(await letIn(both, [secret])).toSatisfy(everybody);
    }
  });

  test('to let a secret expire, holds on both from that millisecond on', {
    timeout: 120_000,
  }, async () => {
    const { application_id, secret } = await linkedApplication(servers[0]);
    for (let round = 0; round < EXPIRIES; round++) {
      const { change, both } = inRound(round);
      const expires_at = Date.now() + 250;
      const { id, secret: passing } = await change('admin.applications.secrets.create', {
        application_id,
        expires_at: new Date(expires_at).toISOString(),
      });
      // All three processes read one clock, so what ends before is let in, and what begins after is
      // not; in between is either.
      for (let beganAt = 0; beganAt < expires_at; ) {
        beganAt = Date.now();
        const answers = await letIn(both, [passing]);
        if (Date.now() < expires_at) expect(answers).toSatisfy(everybody);
        if (beganAt >= expires_at) expect(answers).toSatisfy(nobody);
      }
      expect(await letIn(both, [secret])).toSatisfy(everybody);
      await change('admin.applications.secrets.revoke', { application_id, secret_id: id });
    }
  });
});
