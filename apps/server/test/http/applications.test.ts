import { randomUUID } from 'node:crypto';
import { operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { errorCases } from '../cases/errors.ts';
import { invoke, type Json, send, succeed, unwrapped, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import {
  asBasic,
  asBearer,
  type LinkedApplication,
  linkedApplication,
} from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';

describeOnAnyStore('an application', (fresh) => {
  const server = useServer(fresh);
  /** Whether a secret works: revoking an unknown grant is 404 only after authentication. */
  const works = async (secret: string, at: { url: string } = server) => {
    const input = { grant_id: randomUUID() };
    const statuses = await Promise.all(
      wires.map(async (wire) => {
        const { status } = await invoke(at, wire, 'grants.revoke', input, `Bearer ${secret}`);
        return status;
      }),
    );
    expect(new Set(statuses).size).toBe(1);
    return statuses[0] !== 401 && statuses[0] !== 403;
  };
  const addSecret = ({ application_id }: LinkedApplication, expires_at?: string) =>
    succeed(
      server,
      'admin.applications.secrets.create',
      { application_id, ...(expires_at && { expires_at }) },
      operator,
    );

  test('is refused on every server while it is disabled, with its secrets and grants', async () => {
    const sibling = await startTestServer(server.database.url);
    const linked = await linkedApplication(server);
    const { application_id, secret } = linked;
    const used = await linked.link();
    const unused = await linked.link();
    const { code } = await linked.issue();
    const headers = [asBearer(used), asBasic(used), asBearer(unused)];
    const ask = async (at: { url: string }, wire: Wire, header: string) => {
      const { status, body } = await invoke(at, wire, 'account.get', {}, header);
      return [status, body.error_code];
    };
    await succeed(server, 'account.get', {}, asBearer(used));

    for (const [name, alive] of [
      ['admin.applications.disable', false],
      ['admin.applications.enable', true],
    ] as const) {
      await succeed(server, name, { application_id }, operator);
      for (const at of [server, sibling]) {
        expect(await works(secret, at)).toBe(alive);
        for (const header of headers) {
          for (const wire of wires) {
            const outcome = alive ? [200, undefined] : [403, 'application_disabled'];
            expect(await ask(at, wire, header)).toEqual(outcome);
          }
        }
      }
    }
    const over = await invoke(sibling, 'REST', 'grants.convert', { code }, linked.bearer);
    expect(over.body.error_code).toBe('code_not_found');
    await sibling.close();
  });

  // No grant of a disabled application is idle.
  const wrongCredentials = errorCases.filter(
    ({ code, name, reason }) =>
      code === 'credentials_invalid' &&
      operations[name].caller !== 'operator' &&
      reason !== 'grant_idle',
  );
  test.each(wrongCredentials)(
    'is told apart as disabled only with credentials that work otherwise: $when ($name)',
    async ({ arrange }) => {
      for (const wire of wires) {
        const linked = await linkedApplication(server);
        const { request } = await arrange({ server, wire, linked });
        // It may be deleted already.
        const { application_id } = linked;
        await invoke(server, wire, 'admin.applications.disable', { application_id }, operator);
        const { status, json } = await send(server, request);
        expect([status, unwrapped(wire, json).error_code]).toEqual([401, 'credentials_invalid']);
      }
    },
  );

  test('that is disabled does not use its grants, nor its secrets', async () => {
    const { application_id, bearer, link } = await linkedApplication(server);
    const grant = await link();
    const { grant_id } = grant;
    const usedAt = async () => {
      await server.service.useNotes.flush();
      const input = { application_id };
      const { secrets } = await succeed(server, 'admin.applications.get', input, operator);
      return secrets[0].last_used_at;
    };
    const before = await usedAt();
    await succeed(server, 'admin.applications.disable', { application_id }, operator);
    server.advance(120_000);
    expect((await invoke(server, 'REST', 'account.get', {}, asBearer(grant))).status).toBe(403);
    const revoke = await invoke(server, 'REST', 'grants.revoke', { grant_id }, bearer);
    expect(revoke.status).toBe(403);
    expect(await usedAt()).toBe(before);

    await succeed(server, 'admin.applications.enable', { application_id }, operator);
    // Only a grant that was never used can be recovered.
    const recovered = await succeed(server, 'grants.recover', { grant_id }, bearer);
    expect(recovered).toMatchObject({ grant_id, revoked: false });
  });

  test('keeps its other secrets when one is removed, and may lose the last', async () => {
    const linked = await linkedApplication(server);
    const { application_id } = linked;
    const second = await addSecret(linked);
    expect(await works(second.secret)).toBe(true);
    const remove = (secret_id: string) =>
      succeed(server, 'admin.applications.secrets.revoke', { application_id, secret_id }, operator);
    await remove(linked.secret_id);
    expect(await works(linked.secret)).toBe(false);
    expect(await works(second.secret)).toBe(true);
    await remove(second.id);
    expect(await works(second.secret)).toBe(false);
  });

  test('is refused from the millisecond at which its secret expires', async () => {
    const linked = await linkedApplication(server);
    const at = new Date(server.now() + 1000).toISOString();
    const { secret } = await addSecret(linked, at);
    server.advance(999);
    expect(await works(secret)).toBe(true);
    server.advance(1);
    expect(await works(secret)).toBe(false);
    expect(await works(linked.secret)).toBe(true);
  });

  test('can add a secret once another has expired or was removed', async () => {
    const linked = await linkedApplication(server);
    const { application_id, secret_id } = linked;
    const soon = new Date(server.now() + 1000).toISOString();
    for (let have = 1; have < 5; have++) await addSecret(linked, soon);
    const add = () =>
      invoke(server, 'REST', 'admin.applications.secrets.create', { application_id }, operator);
    expect((await add()).body.error_code).toBe('secret_limit_reached');
    server.advance(1000);
    expect((await add()).status).toBe(200);
    const { secrets } = await succeed(
      server,
      'admin.applications.secrets.revoke',
      { application_id, secret_id },
      operator,
    );
    // The expired secrets are still listed.
    expect(secrets).toHaveLength(5);
    expect((await add()).status).toBe(200);
  });

  const moment = (from: number) => new Date(server.now() + from).toISOString();

  test('shows the 20 expired secrets that expired last, at each look', async () => {
    const linked = await linkedApplication(server);
    const longest = await addSecret(linked, moment(10_000));
    const added: string[] = [];
    for (let round = 0; round < 8; round++) {
      for (let nth = 0; nth < 3; nth++)
        added.push((await addSecret(linked, moment(1_000 + nth))).id);
      server.advance(1_100);
    }
    server.advance(10_000);
    const { application_id } = linked;
    const { secrets } = await succeed(
      server,
      'admin.applications.get',
      { application_id },
      operator,
    );
    const expired = secrets.filter(({ expires_at }: Json) => expires_at !== null);
    expect(expired.map(({ id }: Json) => id)).toEqual([longest.id, ...added.slice(-19)]);
  });

  test.each([
    ['the present', () => moment(0)],
    ['the past', () => moment(-1000)],
    ['no timestamp', () => 'tomorrow'],
    ['a time without an offset', () => '2999-01-01T00:00:00'],
    ['a number', () => server.now() + 1000],
    ['after the year 9999', () => '9999-12-31T23:59:59.999-01:00'],
  ])('gets no secret that expires at %s', async (_, expires_at) => {
    const { application_id } = await linkedApplication(server);
    const input = { application_id, expires_at: expires_at() };
    for (const wire of wires) {
      const response = await invoke(
        server,
        wire,
        'admin.applications.secrets.create',
        input,
        operator,
      );
      expect([response.status, response.body.error_code]).toEqual([400, 'parameter_invalid']);
      expect(response.body.issues[0].path).toEqual(['expires_at']);
      expect(response.text).not.toContain(String(input.expires_at));
    }
  });

  test('shows the minute in which each of its secrets was last used', async () => {
    const linked = await linkedApplication(server);
    const { application_id } = linked;
    const second = await addSecret(linked);
    await works(second.secret);
    await server.service.useNotes.flush();
    const { secrets } = await succeed(
      server,
      'admin.applications.get',
      { application_id },
      operator,
    );
    const minute = new Date(server.now() - (server.now() % 60_000)).toISOString();
    expect(secrets.map(({ last_used_at }: { last_used_at: string }) => last_used_at)).toEqual([
      null,
      minute.replace('Z', '+00:00'),
    ]);
  });
});
