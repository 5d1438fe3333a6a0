import { randomUUID } from 'node:crypto';
import type { OperationName } from '@latchkey/schema';
import { longer } from '@latchkey/test-kit/long';
import { expect, test } from 'vitest';
import { invoke, type Json, wires } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { asBasic, asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator } from '../http/running-server.ts';
import { useTwoServers } from './use-two-servers.ts';

const ROUNDS = longer(8, 400);
const EXPIRIES = longer(2, 60);

type Server = { url: string };

/** Whether each credential is accepted, on each server and over each wire. */
async function accepted(
  servers: readonly Server[],
  secrets: readonly string[],
  grants: readonly string[] = [],
): Promise<boolean[]> {
  const calls = servers.flatMap((server) =>
    wires.flatMap((wire) => [
      // Revoking an unknown grant is 404 only after authentication.
      ...secrets.map((secret) =>
        invoke(server, wire, 'grants.revoke', { grant_id: randomUUID() }, `Bearer ${secret}`),
      ),
      ...grants.map((grant) => invoke(server, wire, 'account.get', {}, grant)),
    ]),
  );
  const responses = await Promise.all(calls);
  return responses.map(({ status }) => {
    expect([200, 401, 403, 404]).toContain(status);
    return status === 200 || status === 404;
  });
}

/** A new secret that expires soon. The time has to be in the future when the service looks at it. */
async function expiringSecret(at: Server, application_id: string) {
  for (let margin = 250; ; margin *= 2) {
    const expires_at = Date.now() + margin;
    const input = { application_id, expires_at: new Date(expires_at).toISOString() };
    const { status, body } = await invoke(
      at,
      'REST',
      'admin.applications.secrets.create',
      input,
      operator,
    );
    if (status === 200) return { id: body.id, secret: body.secret, expires_at };
    expect([status, body.error_code]).toEqual([400, 'validation_failed']);
  }
}

const allAccepted = (results: boolean[]) => results.every((isAccepted) => isAccepted);
const allRefused = (results: boolean[]) => !results.some((isAccepted) => isAccepted);

describeOnEachStore('a change by the operator on one server', (fresh) => {
  const servers = useTwoServers(fresh);

  /** The operator's call of a round, and both servers: first the one that does not get the call. */
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

  test('that deletes a key applies to the next request on the other', async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { change, both } = inRound(round);
      const key = await change('admin.keys.create', { name: 'Ada', role: 'read' });
      const works = async () => {
        const calls = both.flatMap((server) =>
          wires.map((wire) => invoke(server, wire, 'admin.self.get', {}, `Bearer ${key.secret}`)),
        );
        return (await Promise.all(calls)).map(({ status }) => status === 200);
      };
      expect(await works()).toSatisfy(allAccepted);
      await change('admin.keys.delete', { key_id: key.id });
      expect(await works()).toSatisfy(allRefused);
    }
  });

  test('that disables or enables an application applies to the next request on the other', async () => {
    const { application_id, secret, link } = await linkedApplication(servers[0]);
    for (let round = 0; round < ROUNDS; round++) {
      const { far, change, both } = inRound(round);
      const [used, unused] = [await link(), await link()];
      // Both servers have just accepted all of these credentials.
      const headers = [asBearer(used), asBasic(used)];
      expect(await accepted(both, [secret], headers)).toSatisfy(allAccepted);

      await change('admin.applications.disable', { application_id });
      expect(await accepted([far], [secret], [...headers, asBearer(unused)])).toSatisfy(allRefused);
      expect(await accepted(both, [secret], [...headers, asBearer(unused)])).toSatisfy(allRefused);

      await change('admin.applications.enable', { application_id }, far);
      expect(await accepted(both.toReversed(), [secret], headers)).toSatisfy(allAccepted);
      expect(await accepted(both, [secret], [asBearer(unused)])).toSatisfy(allAccepted);
    }
  });

  test('that adds or removes a secret applies to the next request on the other', async () => {
    const { application_id, secret } = await linkedApplication(servers[0]);
    for (let round = 0; round < ROUNDS; round++) {
      const { far, change, both } = inRound(round);
      const added = await change('admin.applications.secrets.create', { application_id });
      expect(await accepted([far], [added.secret, secret])).toSatisfy(allAccepted);
      expect(await accepted(both, [added.secret, secret])).toSatisfy(allAccepted);

      await change('admin.applications.secrets.revoke', { application_id, secret_id: added.id });
      expect(await accepted([far], [added.secret])).toSatisfy(allRefused);
      expect(await accepted(both, [added.secret])).toSatisfy(allRefused);
      expect(await accepted(both, [secret])).toSatisfy(allAccepted);
    }
  });

  test('that lets a secret expire applies on both from that millisecond', async () => {
    const { application_id, secret } = await linkedApplication(servers[0]);
    for (let round = 0; round < EXPIRIES; round++) {
      const { near, change, both } = inRound(round);
      const { id, secret: passing, expires_at } = await expiringSecret(near, application_id);
      // All three processes read one clock: a request that ends before is accepted, one that begins
      // after is refused, and one in between may be either.
      for (let beganAt = 0; beganAt < expires_at; ) {
        beganAt = Date.now();
        const results = await accepted(both, [passing]);
        if (Date.now() < expires_at) expect(results).toSatisfy(allAccepted);
        if (beganAt >= expires_at) expect(results).toSatisfy(allRefused);
      }
      expect(await accepted(both, [secret])).toSatisfy(allAccepted);
      await change('admin.applications.secrets.revoke', { application_id, secret_id: id });
    }
  });
});
