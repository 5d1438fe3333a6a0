import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { invoke, requestOf, succeed, unwrapped, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { type LinkedApplication, linkedApplication } from './linked-application.ts';
import { RawConnection } from './raw-connection.ts';
import { operator, useServer } from './running-server.ts';

// A client that sends its body after its headers is authenticated again once the body has arrived:
// what was disabled or removed in the meantime gets no grant.
describeOnAnyStore('a body that arrives after', (fresh) => {
  const server = useServer(fresh);
  let linked: LinkedApplication;
  afterEach(() => vi.restoreAllMocks());
  beforeEach(async () => {
    linked = await linkedApplication(server);
  });

  /** Sends the headers of a convert, and its body once `meanwhile` has finished. */
  async function convertAround(wire: (typeof wires)[number], meanwhile: () => Promise<unknown>) {
    const { code } = await linked.issue();
    const { path, body } = requestOf(wire, 'grants.convert', { code });
    const connection = new RawConnection(server);
    connection.request([
      `POST ${path} HTTP/1.1`,
      'Host: x',
      'Expect: 100-continue',
      `Authorization: ${linked.bearer}`,
      'Content-Type: application/json',
      `Content-Length: ${String(body).length}`,
    ]);
    // The service asks for the body only after it has authenticated the caller.
    expect((await connection.response()).status).toBe(100);
    await meanwhile();
    connection.socket.write(String(body));
    const response = await connection.response();
    connection.end();
    const { error_code } = unwrapped(wire, JSON.parse(response.body));
    return { status: response.status, error_code, code };
  }
  for (const wire of wires) {
    test(`the application was disabled is refused over ${wire}, and the code is over`, async () => {
      const application = { application_id: linked.application_id };
      const { status, error_code, code } = await convertAround(wire, () =>
        succeed(server, 'admin.applications.disable', application, operator),
      );
      expect([status, error_code]).toEqual([403, 'application_disabled']);
      await succeed(server, 'admin.applications.enable', application, operator);
      const again = await invoke(server, wire, 'grants.convert', { code }, linked.bearer);
      expect(again.body.error_code).toBe('code_not_found');
    });

    test(`the secret was removed is refused over ${wire}`, async () => {
      const { application_id, secret_id } = linked;
      const { status } = await convertAround(wire, () =>
        succeed(
          server,
          'admin.applications.secrets.revoke',
          { application_id, secret_id },
          operator,
        ),
      );
      expect(status).toBe(401);
    });

    test(`the key was deleted is refused over ${wire}, and that of a key without the right is not asked for`, async () => {
      const createWith = async (role: string) => {
        const key = await succeed(server, 'admin.keys.create', { name: 'Ada', role }, operator);
        const { path, body } = requestOf(wire, 'admin.scopes.put', {
          scope: 'late',
          title: 'Late',
        });
        const connection = new RawConnection(server);
        connection.request([
          `${wire === 'REST' ? 'PUT' : 'POST'} ${path} HTTP/1.1`,
          'Host: x',
          'Expect: 100-continue',
          `Authorization: Bearer ${key.secret}`,
          'Content-Type: application/json',
          `Content-Length: ${String(body).length}`,
        ]);
        return { key_id: key.id, connection, body, first: await connection.response() };
      };
      const reader = await createWith('read');
      expect(reader.first.status).toBe(403);
      reader.connection.end();

      const { key_id, connection, body, first } = await createWith('operate');
      expect(first.status).toBe(100);
      await succeed(server, 'admin.keys.delete', { key_id }, operator);
      connection.socket.write(String(body));
      expect((await connection.response()).status).toBe(401);
      connection.end();
      const { data } = await succeed(server, 'admin.scopes.list', {}, operator);
      expect(data).toEqual([]);
    });

    test(`its look-up began, while the application was disabled, is refused over ${wire}`, async () => {
      const { code } = await linked.issue();
      const { path, body } = requestOf(wire, 'grants.convert', { code });
      const { store } = server.service;
      const find = store.authenticateApplication;
      const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      vi.spyOn(store, 'authenticateApplication').mockImplementationOnce(async (...parameters) => {
        const found = await find(...parameters);
        began.resolve();
        await mayEnd.promise;
        return found;
      });
      const connection = new RawConnection(server);
      connection.request([
        `POST ${path} HTTP/1.1`,
        'Host: x',
        `Authorization: ${linked.bearer}`,
        'Content-Type: application/json',
        `Content-Length: ${String(body).length}`,
      ]);
      await began.promise;
      const application = { application_id: linked.application_id };
      await succeed(server, 'admin.applications.disable', application, operator);
      connection.socket.write(String(body));
      // What is answered after it was sent, so that it has arrived.
      await succeed(server, 'admin.applications.get', application, operator);
      mayEnd.resolve();
      const response = await connection.response();
      connection.end();
      expect(unwrapped(wire, JSON.parse(response.body)).error_code).toBe('application_disabled');
    });

    test(`nothing, since it came with its headers, is authenticated once over ${wire}`, async () => {
      const { code } = await linked.issue();
      const { path, body } = requestOf(wire, 'grants.convert', { code });
      const look = vi.spyOn(server.service.store, 'authenticateApplication');
      const connection = new RawConnection(server);
      const head = [
        `POST ${path} HTTP/1.1`,
        'Host: x',
        `Authorization: ${linked.bearer}`,
        'Content-Type: application/json',
        `Content-Length: ${String(body).length}`,
      ];
      connection.request(head, String(body));
      expect((await connection.response()).status).toBe(200);
      connection.end();
      expect(look).toHaveBeenCalledTimes(1);
    });

    test(`no change is accepted over ${wire}`, async () => {
      const { status } = await convertAround(wire, async () => {});
      expect(status).toBe(200);
    });
  }
});
