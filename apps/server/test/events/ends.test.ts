import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { linkedApplication } from '../http/linked-application.ts';
import { EVENTS, operator, type ServerWithDatabase, useServer } from '../http/running-server.ts';
import { waysToEnd } from '../http/ways-to-end.ts';
import { LINKING } from '../linking/link-flow.ts';
import { type Receiver, startReceiver } from './receiver.ts';

describeOnAnyStore('the end of a grant', (fresh) => {
  const server = useServer(fresh, { ...LINKING, ...EVENTS });
  let host: Receiver;
  beforeAll(async () => {
    host = await startReceiver();
    const types = ['grant.revoked'];
    await succeed(server, 'admin.endpoints.create', { url: host.url, types }, operator);
  });
  afterAll(() => host.close());

  test.each(waysToEnd(server))('by $name is told, with its reason', async ({ reason, end }) => {
    const [linked, own] = [await linkedApplication(server), await startReceiver()];
    const { application_id, account_id } = linked;
    const to = { url: own.url, application_id, types: ['grant.revoked'] };
    await succeed(server, 'admin.endpoints.create', to, operator);
    const grant = await linked.link();
    await end(linked, grant);
    await vi.waitFor(() => {
      const { grant_id } = grant;
      const heard = [host, own].map(({ heard }) =>
        heard.filter(({ body }) => body.data.grant_id === grant_id).map(({ body }) => body.data),
      );
      const data = expect.objectContaining({ reason, account_id, revoked: true });
      expect(heard).toEqual([[data], [data]]);
    }, 20_000);
    await own.close();
  });
});

describe('every way in which a grant ends', () => {
  test('is one of those above, or was one before a restore', () => {
    const ending = /\.(revokeGrant|doStep)\(/;
    const found = ['../../src', '../../../../packages/rules/src'].flatMap((folder) => {
      const source = join(import.meta.dirname, folder);
      return readdirSync(source, { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.ts$/.test(path) && !/\.test\.ts$|^doctor\//.test(path))
        .filter((path) => ending.test(readFileSync(join(source, path), 'utf8')));
    });
    const told = new Set(waysToEnd({} as ServerWithDatabase).map(({ by }) => by));
    expect(found.sort()).toEqual([...told, 'restore/revoke-again.ts'].sort());
  });
});
