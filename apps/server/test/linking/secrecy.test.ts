import { randomUUID } from 'node:crypto';
import { credentialParts } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { send, succeed } from '../http/call.ts';
import { describeOnAnyStore } from '../http/databases.ts';
import { operator, useServer } from '../http/running-server.ts';
import {
  addedTo,
  authorize,
  CALLBACK,
  LINKING,
  linkingApplication,
  SIGN_IN_URL,
  VERIFIER,
} from './link-flow.ts';
import { identify, open, openConnections, pathOf, visit } from './page-flow.ts';

describeOnAnyStore('of the linking flow, nothing secret', (fresh) => {
  const server = useServer(fresh, { ...LINKING, LOG_LEVEL: 'trace', METRICS: 'on' });

  test('gets into the log, an error or the database', async () => {
    const state = `a state ${randomUUID()}`;
    const login_hint = `${randomUUID()}@example.com`;
    const linking = await linkingApplication(server);
    const { account_id, bearer } = linking;
    server.lines.length = 0;

    // A whole link, with another account on the way, and every credential of it.
    const asked = { ...linking.request, state, login_hint };
    const begun = await authorize(server, asked);
    const { link } = addedTo(`${SIGN_IN_URL}&`, begun.headers.get('location') ?? '');
    const first = await open(server, await identify(server, link, { account_id }));
    const answer = (page: typeof first, decision: string) => {
      const { path, cookie, form_token } = page;
      return visit(server, path, { cookie, form: { form_token, decision } });
    };
    const switched = await answer(first, 'switch');
    const second = addedTo(`${SIGN_IN_URL}&`, switched.headers.get('location') ?? '').link;
    const url = await identify(server, second, { account_id });
    const page = await open(server, url);
    const allowed = await answer(page, 'allow');
    const { code } = addedTo(`${CALLBACK}&`, allowed.headers.get('location') ?? '');
    const connections = await openConnections(server, account_id);

    const ticketOf = (address: string) => new URL(address).searchParams.get('ticket') ?? '';
    const sessionOf = ({ cookie }: { cookie: string }) => cookie.split('=')[1] ?? '';
    const credentials = [
      ...[link, second, code, ticketOf(url), ticketOf(connections.url)],
      ...[sessionOf(first), sessionOf(page), sessionOf(connections)],
    ];
    const tokens = [first, page, connections].map(({ form_token }) => form_token).filter(Boolean);
    const secrets = [...credentials, ...tokens, VERIFIER, state, login_hint];
    expect(secrets.length).toBe(new Set(secrets).size);
    const shows = (text: string) =>
      secrets.filter(
        (secret) => text.includes(secret) || text.includes(encodeURIComponent(secret)),
      );

    // Each of them in each place where somebody could put it.
    const errors: string[] = [];
    for (const secret of secrets) {
      const value = encodeURIComponent(secret);
      for (const path of [
        ...[`/link/${value}`, `/connections/${value}`, `${page.path}?ticket=${value}`],
        ...[`/connections?ticket=${value}`, `/connections?done=${value}`, `/oauth/${value}`],
        ...['client_id', 'redirect_uri', 'x'].map((name) => `/oauth/authorize?${name}=${value}`),
      ]) {
        errors.push((await visit(server, path)).text);
      }
      const { path, cookie, form_token } = page;
      for (const form of [
        { form_token: secret, decision: 'allow' },
        { form_token, decision: secret },
        { [secret]: secret },
      ]) {
        errors.push((await visit(server, path, { cookie, form })).text);
        errors.push((await visit(server, path, { cookie: `${cookie}${value}`, form })).text);
      }
      const body = JSON.stringify({ link: secret, account_id, scope: secret });
      const headers = { 'content-type': 'application/json' };
      for (const name of ['read', 'identify', 'approve', 'deny']) {
        const request = { method: 'POST', path: `/admin/links/${name}`, headers, body };
        if (secret === second && name !== 'identify') continue;
        errors.push((await send(server, { ...request, authorization: operator })).text);
      }
    }
    // The right link reads what its application had asked for, which the host may know.
    expect(errors.length).toBeGreaterThan(200);
    expect(errors.flatMap(shows)).toEqual([]);

    await succeed(
      server,
      'grants.convert',
      { code, redirect_uri: CALLBACK, code_verifier: VERIFIER },
      bearer,
    );
    await visit(server, pathOf(url), { cookie: page.cookie });
    const metrics = await visit(server, '/metrics');
    expect(shows(metrics.text)).toEqual([]);
    await server.service.audit.flush();
    // These lines are not redacted: nothing is logged that would need it.
    expect(server.lines.length).toBeGreaterThan(200);
    expect(server.lines.flatMap(shows)).toEqual([]);

    const stored = await server.database.bytes();
    for (const credential of credentials) {
      const kinds = ['link', 'code', 'pageTicket', 'pageSession'] as const;
      const [random] = kinds.flatMap((kind) => credentialParts(kind, credential)?.random ?? []);
      expect(random).toHaveLength(32);
      expect(stored.includes(credential.slice(-40))).toBe(false);
      // The random part must not be stored as bytes either.
      expect(stored.includes(Buffer.from(random ?? []))).toBe(false);
    }
    for (const token of [...tokens, VERIFIER]) expect(stored.includes(token)).toBe(false);
  });
});
