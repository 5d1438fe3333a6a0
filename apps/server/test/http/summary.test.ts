import { randomUUID } from 'node:crypto';
import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { formatCredential } from '@latchkey/schema';
import pino from 'pino';
import { expect, test, vi } from 'vitest';
import { closeService, openService } from '../../src/open-service.ts';
import { authorize, LINKING, linkingApplication } from '../linking/link-flow.ts';
import { openConsent, visit } from '../linking/page-flow.ts';
import { invoke, type Json, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { postForm } from './forms.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, startTestServer, useServer } from './running-server.ts';
import { waysToEnd } from './ways-to-end.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describeOnAnyStore('the summary', (fresh) => {
  const server = useServer(fresh, LINKING);
  const call = (name: Parameters<typeof succeed>[1], input: object) =>
    succeed(server, name, input as Record<string, unknown>, operator);
  const summary = (input = {}): Promise<Json> => call('admin.summary.get', input);

  /** What a test adds to the present time. */
  async function during(run: () => Promise<unknown>): Promise<Json> {
    // So far from other tests that their hours are not asked for.
    server.advance(3 * DAY);
    const { live } = await vi.waitFor(async () => {
      const { grants } = await summary({ hours: 1 });
      expect(grants.live).not.toBeNull();
      return grants;
    });
    await run();
    const { links, grants, refused, series } = await summary({ hours: 1 });
    return {
      ...{ links, refused, created: grants.created, revoked: grants.revoked },
      live: grants.live - live,
      last: series.at(-1),
    };
  }

  const ends = waysToEnd(server);

  test.each(ends)('counts an end by $name, with its reason', async ({ reason, end }) => {
    let report: Json;
    const { created, revoked, live, last } = await during(async () => {
      const linked = await linkedApplication(server);
      const grant = await linked.link();
      await end(linked, grant);
      // Whatever is repeated changes nothing.
      if (reason !== 'replaced' && reason !== 'idle') await end(linked, grant).catch(() => {});
      report = await reportGrant(server.service.store, grant.grant_id);
    });
    expect(report.data.at(-1)).toMatchObject({ what: 'revoked', reason });
    expect(revoked).toEqual({ [reason]: 1 });
    const isLater = reason === 'idle';
    const conversions = reason === 'replaced' ? 2 : isLater ? 0 : 1;
    expect([created, last.created, last.revoked]).toEqual([conversions, conversions, 1]);
    expect(live).toBe(reason === 'replaced' ? 1 : 0);
  });

  test('has the links that began in the time, by what became of them', async () => {
    const app = await linkingApplication(server);
    server.advance(3 * DAY + HOUR / 2 - (server.now() % HOUR));
    const begin = async () => (await app.begin()).link;
    const [approved, denied, onPage] = [
      await begin(),
      await begin(),
      await openConsent(server, app),
    ];
    await begin();
    await begin();
    await begin();
    // The decisions are in another hour, and count for the hour of the beginning.
    server.advance(HOUR / 2);
    await begin();
    const { account_id } = app;
    for (let i = 0; i < 2; i += 1) {
      await call('admin.links.approve', { link: approved, account_id });
      await call('admin.links.deny', { link: denied });
    }
    const form = { form_token: onPage.form_token, decision: 'deny' };
    await visit(server, onPage.path, { cookie: onPage.cookie, form });
    const links = { begun: 7, approved: 1, denied: 2 };
    expect((await summary({ hours: 2 })).links).toEqual({ ...links, expired: 0 });
    server.advance(HOUR - 1);
    expect((await summary({ hours: 2 })).links).toEqual({ ...links, expired: 0 });
    // All links of the first hour are over.
    server.advance(1);
    expect((await summary({ hours: 3 })).links).toEqual({ ...links, expired: 3 });
    server.advance(HOUR);
    expect((await summary({ hours: 4 })).links).toEqual({ ...links, expired: 4 });
    expect((await summary({ hours: 2 })).links).toEqual({
      ...{ begun: 1, approved: 0, denied: 0, expired: 1 },
    });
  });

  test('has the refusals that name an application that exists, and no others', async () => {
    const linked = await linkedApplication(server);
    const other = await linkingApplication(server, { public: true });
    const grant = await linked.link();
    const { application_id, bearer } = linked;
    const { grant_id } = grant;
    const refuse = (name: Parameters<typeof succeed>[1], input: Json, authorization?: string) =>
      invoke(server, 'REST', name, input, authorization);
    const forged = (kind: 'applicationSecret' | 'grantSecret', id: string) =>
      `Bearer ${formatCredential(kind, id, new Uint8Array(32))}`;
    const known = await during(async () => {
      await refuse('grants.convert', { code: 'nonsense' }, bearer);
      await refuse('grants.convert', { code: 'a' }, forged('applicationSecret', application_id));
      await refuse('grants.revoke', { grant_id: randomUUID() }, bearer);
      await refuse('account.get', {}, forged('grantSecret', grant_id));
      await authorize(server, { ...other.request, redirect_uri: 'https://eve.example/' });
      await authorize(server, { ...other.request, response_type: 'token' });
      await call('admin.applications.disable', { application_id: linked.application_id });
      await refuse('grants.revoke', { grant_id }, bearer);
      await refuse('admin.applications.delete', { application_id: other.application_id }, operator);
    });
    expect(known.refused).toEqual({
      application_disabled: { application_disabled: 1 },
      application_enabled: { '-': 1 },
      code_not_found: { code_ill_formed: 1 },
      credentials_invalid: { grant_secret_wrong: 1, secret_unknown: 1 },
      grant_not_found: { grant_unknown: 1 },
      redirect_uri_unregistered: { redirect_uri_other: 1 },
      response_type_unsupported: { '-': 1 },
    });
    expect(known.last.refused).toBe(8);

    const strange = await during(async () => {
      const [nobody, client_secret] = [randomUUID(), bearer.slice('Bearer '.length)];
      const credentials = [
        undefined,
        'Bearer nonsense',
        forged('applicationSecret', nobody),
        forged('grantSecret', nobody),
      ];
      for (const authorization of credentials) {
        await refuse('grants.convert', { code: 'a' }, authorization);
        await refuse('account.get', {}, authorization);
        await refuse('admin.keys.list', {}, authorization);
      }
      const token = { grant_type: 'authorization_code', code: 'a' };
      for (const client of [
        { client_id: nobody },
        { client_id: 'nonsense' },
        { client_id: nobody, client_secret },
        { client_secret: forged('applicationSecret', nobody).slice('Bearer '.length) },
      ]) {
        await postForm(server, '/oauth/token', { ...token, ...client });
        await postForm(server, '/oauth/revoke', { token: 'a', ...client });
      }
      for (const client_id of [nobody, 'nonsense', [nobody, nobody]]) {
        await authorize(server, { ...other.request, client_id });
      }
      await refuse('admin.applications.get', { application_id: nobody }, operator);
      const since = '2099-01-01T00:00:00Z';
      await refuse('admin.refusals.list', { application_id: nobody, since }, operator);
      await visit(server, `/link/${nobody}?ticket=lk_ticket_nonsense`);
    });
    expect(strange.refused).toEqual({});
  });

  test('has of a flood without authentication what is kept, also in the name of a public application', async () => {
    const app = await linkingApplication(server, { public: true });
    const { application_id: client_id } = app;
    const { refused } = await during(async () => {
      for (let i = 0; i < 200; i += 1) {
        await authorize(server, { ...app.request, redirect_uri: 'https://eve.example/' });
        const made_up = { grant_type: 'authorization_code', code: 'a', client_id };
        await postForm(server, '/oauth/token', made_up);
      }
    });
    const { redirect_uri_other } = refused.redirect_uri_unregistered ?? {};
    const { code_ill_formed } = refused.code_not_found ?? {};
    for (const counted of [redirect_uri_other, code_ill_formed]) {
      expect(counted).toBeGreaterThan(0);
      expect(counted).toBeLessThan(200);
    }
  });

  test.each(wires)('has as many steps as it needs, over %s', async (wire) => {
    server.advance(40 * DAY);
    const get = async (input: object) =>
      (await invoke(server, wire, 'admin.summary.get', input as Json, operator)).body;
    for (const [hours, steps, length] of [
      [undefined, 25, 1],
      [1, 2, 1],
      [95, 96, 1],
      [96, 49, 2],
      [720, 91, 8],
    ] as const) {
      const { since, until, series, ...rest } = await get(hours === undefined ? {} : { hours });
      expect([series.length, series[0].at]).toEqual([steps, since]);
      expect(Date.parse(series[1].at) - Date.parse(since)).toBe(length * HOUR);
      const asked = server.now() - (hours ?? 24) * HOUR;
      expect(Date.parse(until)).toBe(server.now());
      expect(Date.parse(since)).toBeLessThanOrEqual(asked);
      expect(Date.parse(since)).toBeGreaterThan(asked - length * HOUR);
      expect(rest).toEqual({
        object: 'summary',
        links: { begun: 0, approved: 0, denied: 0, expired: 0 },
        grants: { created: 0, revoked: {}, live: expect.any(Number) },
        ...{ refused: {}, events: null, approximate: true },
      });
    }
    for (const hours of [0, 721, 1.5, -1, 'a']) {
      expect((await get({ hours })).error_code).toBe('parameter_invalid');
    }
  });
});

describeOnAnyStore('what is counted', (fresh) => {
  test('by several processes is added up, and a shutdown loses nothing', async () => {
    const database = await fresh();
    const [one, other] = [await startTestServer(database.url), await startTestServer(database.url)];
    const created = async (server: typeof one) => {
      const { grants } = await succeed(server, 'admin.summary.get', {}, operator);
      return [grants.created, grants.live];
    };
    await vi.waitFor(async () => expect(await created(one)).toEqual([0, 0]));
    const linked = await linkedApplication(one);
    await linked.link();
    await linked.link();
    const { code } = await linked.issue();
    // Each answer has what its own process has not written.
    expect(await created(one)).toEqual([2, 2]);
    await one.close();
    await succeed(other, 'grants.convert', { code }, linked.bearer);
    expect(await created(other)).toEqual([3, 3]);
    await other.close();

    const third = await startTestServer(database.url);
    expect(await created(third)).toEqual([3, 3]);
    await third.close();
    await database.remove();
  });

  test('is written while the process runs', async () => {
    const database = await fresh();
    const options = { writeCountsEvery: 1 };
    const service = await openService(database.url, pino({ enabled: false }), options);
    service.counts.add('grants:created');
    const time = { since: 0, until: Date.now() + HOUR };
    await expect
      .poll(() => service.store.listCounts(time), { timeout: 10_000 })
      .toMatchObject([{ counts: { 'grants:created': 1 } }]);
    await closeService(service);
    await database.remove();
  });
});
