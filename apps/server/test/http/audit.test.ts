import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { expect, test } from 'vitest';
import { invoke, type Json, requestOf, send, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { operator, type TestServer, useServer } from './running-server.ts';

/** Calls an operation with a request id, one second after the previous call. */
async function callAs(
  server: TestServer,
  wire: Wire,
  request_id: string,
  ...[name, input, authorization]: [Parameters<typeof requestOf>[1], object, string]
): Promise<void> {
  server.advance(1_000);
  const request = requestOf(wire, name, { ...input });
  const headers = { ...request.headers, 'x-request-id': request_id };
  await send(server, { ...request, headers, authorization });
}

const auditLines = ({ lines }: TestServer): Json[] =>
  lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'audit');

describeOnAnyStore('the life of a grant', (fresh) => {
  const server = useServer(fresh);

  test.each(wires)('is in its history and in the log, over %s', async (wire) => {
    const linked = await linkedApplication(server);
    const { application_id, account_id, secret_id, bearer } = linked;
    const { code, grant_id } = await linked.issue();
    const issued = auditLines(server).at(-1);
    const other = await linkedApplication(server);
    server.lines.length = 0;

    const call = callAs.bind(null, server, wire);
    await call('of-another', 'grants.convert', { code }, other.bearer);
    await call('the-convert', 'grants.convert', { code }, bearer);
    await call('the-replay', 'grants.convert', { code }, bearer);
    await call('early-recovery', 'grants.recover', { grant_id }, bearer);
    server.advance(1_000);
    const { body: grant } = await invoke(server, wire, 'grants.recover', { grant_id }, bearer);
    const recovery = auditLines(server).at(-1);
    await call('the-first-use', 'account.get', {}, asBearer(grant));
    await call('the-second-use', 'account.grant', {}, asBearer(grant));
    await call('late-recovery', 'grants.recover', { grant_id }, bearer);
    await call('the-revocation', 'admin.grants.revoke', { grant_id }, operator);
    await call('the-repetition', 'grants.revoke', { grant_id }, bearer);
    await call('refused-use', 'account.get', {}, asBearer(grant));

    await server.service.audit.flush();
    const report = await reportGrant(server.service.store, grant_id);
    expect(report).toMatchObject({ application_id, account_id, recoveries: 2 });
    const told = report.data.map(({ what, result, reason, by, request_id }) =>
      [what, result, reason ?? '-', by ?? 'nobody', request_id].join(' '),
    );
    expect(told).toEqual([
      `issued done - operator ${issued.request_id}`,
      'grants.convert code_not_found code_of_another_application application of-another',
      'converted done - application the-convert',
      'grants.convert code_already_used code_replayed application the-replay',
      `recovered done - application ${recovery.request_id}`,
      'first_used done - grant the-first-use',
      'grants.recover grant_not_recoverable grant_used application late-recovery',
      'revoked done host operator the-revocation',
      'account.get credentials_invalid grant_revoked nobody refused-use',
    ]);
    const times = report.data.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const named = report.data.map((entry) => [entry.application_id, entry.secret_id]);
    expect(named.slice(1, 4)).toEqual([
      [other.application_id, null],
      [null, secret_id],
      [application_id, null],
    ]);

    // The log has the same entries and the repeated calls that changed nothing, but no second use.
    const by = { application: { application_id, secret_id }, grant: { application_id } };
    const audited = auditLines(server).map(
      ({ level, time, pid, hostname, msg, instance, line: _, ...line }) => line,
    );
    const counted = auditLines(server).map(({ instance, line }) => ({ instance, line }));
    const [{ instance, line: first }] = counted as [Json];
    expect(counted).toEqual(counted.map((_, index) => ({ instance, line: first + index })));
    const line = (action: string, request_id: string, members: object) => ({
      action,
      grant_id,
      result: 'done',
      reason: null,
      request_id,
      address: '127.0.0.1',
      ...members,
    });
    const application = { by: 'application', ...by.application };
    expect(audited).toEqual([
      line('grants.convert', 'of-another', {
        by: 'application',
        application_id: other.application_id,
        secret_id: other.secret_id,
        result: 'code_not_found',
        reason: 'code_of_another_application',
        account_id,
      }),
      line('grants.convert', 'the-convert', application),
      line('grants.convert', 'the-replay', {
        ...application,
        result: 'code_already_used',
        reason: 'code_replayed',
        account_id,
      }),
      line('grants.recover', 'early-recovery', application),
      line('grants.recover', recovery.request_id, application),
      line('account.get', 'the-first-use', { by: 'grant', application_id, account_id }),
      line('grants.recover', 'late-recovery', {
        ...application,
        result: 'grant_not_recoverable',
        reason: 'grant_used',
        account_id,
      }),
      line('admin.grants.revoke', 'the-revocation', {
        ...{ by: 'operator', admin_secret: 'current', key_id: null },
      }),
      line('grants.revoke', 'the-repetition', application),
      line('account.get', 'refused-use', {
        by: null,
        application_id,
        account_id,
        result: 'credentials_invalid',
        reason: 'grant_revoked',
      }),
    ]);

    // The line of each request names the grant of the request.
    const requests = server.lines
      .map((text) => JSON.parse(text))
      .filter(({ msg }) => msg === 'request');
    expect(new Set(requests.map((request) => request.grant_id))).toEqual(new Set([grant_id]));
  });

  test('contains no credential that a client sent as its request id', async () => {
    const linked = await linkedApplication(server);
    const { code, grant_id } = await linked.issue();
    await callAs(server, 'REST', linked.secret, 'grants.convert', { code }, linked.bearer);
    await callAs(server, 'REST', linked.secret, 'grants.convert', { code }, linked.bearer);
    await server.service.audit.flush();
    const { data } = await reportGrant(server.service.store, grant_id);
    expect(data.map(({ result, request_id }) => [result, request_id]).slice(1)).toEqual([
      ['done', '[redacted]'],
      ['code_already_used', '[redacted]'],
    ]);
    expect(JSON.stringify(auditLines(server))).not.toContain(linked.secret);
  });
});

describeOnAnyStore('a batch', (fresh) => {
  const server = useServer(fresh);

  test('has a line for each of its calls and each refusal', async () => {
    const linked = await linkedApplication(server);
    const [one, two] = [await linked.issue(), await linked.link()];
    server.lines.length = 0;
    await send(server, {
      method: 'POST',
      path: '/trpc/grants.convert,nobody.knows,grants.recover,admin.codes.cancel?batch=1',
      authorization: linked.bearer,
      headers: { 'content-type': 'application/json', 'x-request-id': 'the-batch' },
      body: JSON.stringify({
        0: { code: one.code },
        2: { grant_id: linked.account_id },
        3: { grant_id: two.grant_id },
      }),
    });
    const told = auditLines(server).map(({ action, result, reason }) => [action, result, reason]);
    // The calls of a batch run concurrently.
    expect(told.toSorted()).toEqual([
      ['admin.codes.cancel', 'credentials_invalid', 'admin_secret_wrong'],
      ['grants.convert', 'done', null],
      ['grants.recover', 'grant_not_found', 'grant_unknown'],
    ]);
    await server.service.audit.flush();
    const { store } = server.service;
    const refusals = await store.findRefusals(
      { request_id: 'the-batch' },
      { limit: 9, before: null },
    );
    expect(refusals.map(({ operation }) => operation).toSorted()).toEqual([
      'admin.codes.cancel',
      'grants.recover',
    ]);
  });
});

describeOnAnyStore('behind a proxy', (fresh) => {
  const server = useServer(fresh, { TRUST_PROXY: 'true' });

  test.each([
    ['an address', '203.0.113.7', '203.0.113.7'],
    ['the last of several', 'made up, [2001:db8::7]:4711', '[2001:db8::7]:4711'],
    ['a text', '"quoted" <b>text</b>', null],
    ['a control sequence', '\u009b31m', null],
    ['a long text', 'x'.repeat(8_000), null],
  ])('%s in X-Forwarded-For is cleaned before it is logged', async (_, header, address) => {
    server.lines.length = 0;
    const headers = { 'x-forwarded-for': header };
    await send(server, {
      ...requestOf('REST', 'grants.revoke'),
      headers,
      authorization: 'Bearer x',
    });
    const lines: Json[] = server.lines
      .map((line) => JSON.parse(line))
      .filter(({ msg }) => msg !== 'log number');
    expect(lines.map(({ msg, address }) => [msg, address])).toEqual([
      ['audit', address],
      ['request', address],
    ]);
  });
});
