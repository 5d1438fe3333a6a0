import { expect, test } from 'vitest';
import { invoke, type Wire, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { asBearer, linkedApplication } from './linked-application.ts';
import { useServer } from './running-server.ts';
import { unknownCredential } from './unknown-credential.ts';

describeOnEachStore('a code', (fresh) => {
  const server = useServer(fresh);
  const convert = async (wire: Wire, code: string, bearer: string) => {
    const { status, body } = await invoke(server, wire, 'grants.convert', { code }, bearer);
    return { status, error_code: body.error_code, grant_id: body.grant_id };
  };

  test.each(wires)('is valid until the last millisecond of 300 s, over %s', async (wire) => {
    const { issue, bearer } = await linkedApplication(server);
    const early = await issue();
    const late = await issue();
    server.advance(299_999);
    expect((await convert(wire, early.code, bearer)).status).toBe(200);
    server.advance(1);
    expect(await convert(wire, late.code, bearer)).toEqual({
      status: 400,
      error_code: 'code_expired',
    });
  });

  test('that was converted is "already used" only for its application', async () => {
    const own = await linkedApplication(server);
    const other = await linkedApplication(server);
    const { code, grant_id } = await own.issue();
    const grant = await own.convert(code);
    const used = { status: 400, error_code: 'code_already_used', grant_id };
    const refused = (error_code: string) => ({ status: 400, error_code, grant_id: undefined });

    expect(await convert('REST', code, own.bearer)).toEqual(used);
    expect(await convert('REST', code, other.bearer)).toEqual(refused('code_not_found'));
    server.advance(300_000);
    expect(await convert('REST', code, own.bearer)).toEqual(used);
    expect(await convert('REST', code, other.bearer)).toEqual(refused('code_expired'));
    await invoke(server, 'REST', 'grants.revoke', { grant_id }, own.bearer);
    expect(await convert('REST', code, own.bearer)).toEqual(used);
    server.advance(365 * 86_400_000);
    expect(await convert('REST', code, own.bearer)).toEqual(used);
    // The id is right but the random part is wrong: this code was never issued.
    const forged = unknownCredential('code', grant.grant_id);
    expect(await convert('REST', forged, own.bearer)).toEqual(refused('code_expired'));
  });

  test('that was exchanged changes nothing when it is replayed', async () => {
    const { application_id, issue, convert: exchange, bearer } = await linkedApplication(server);
    const { code } = await issue();
    const grant = await exchange(code);
    await convert('REST', code, bearer);
    const described = await invoke(server, 'REST', 'account.grant', {}, asBearer(grant));
    const { grant_secret: _, ...description } = grant;
    expect(described.body).toStrictEqual({
      ...{ ...description, application_id, document_uri: null, external_id: null },
      ...{ resource: null, choice: null },
    });
  });

  test('is "expired" by its age alone, whether pending, cancelled or unknown', async () => {
    const own = await linkedApplication(server);
    const other = await linkedApplication(server);
    const pending = await own.issue();
    const cancelled = await own.issue();
    await server.service.store.cancelCode(cancelled.grant_id);
    const codes = [
      pending.code,
      cancelled.code,
      unknownCredential('code', pending.grant_id),
      // There was never a record of this grant.
      unknownCredential('code', pending.grant_id.replace(/.{12}$/, '000000000000')),
    ];
    for (const [advance, error_code] of [
      [299_999, 'code_not_found'],
      [1, 'code_expired'],
    ] as const) {
      server.advance(advance);
      for (const code of codes) {
        expect(await convert('REST', code, other.bearer)).toMatchObject({ error_code });
      }
    }
  });

  test('stays valid after every call that fails', async () => {
    const own = await linkedApplication(server);
    const other = await linkedApplication(server);
    const { code, grant_id } = await own.issue();
    const attempts: [string, Record<string, unknown>, string][] = [
      ['credentials_invalid', { code }, `Bearer ${unknownCredential('applicationSecret')}`],
      ['code_not_found', { code }, other.bearer],
      ['code_not_found', { code: unknownCredential('code', grant_id) }, own.bearer],
      ['code_not_found', { code: `${code}0` }, own.bearer],
      ['code_not_found', { code: code.toUpperCase() }, own.bearer],
      ['parameter_invalid', { code: [code] }, own.bearer],
    ];
    for (const wire of wires) {
      for (const [error_code, input, as] of attempts) {
        const { body } = await invoke(server, wire, 'grants.convert', input, as);
        expect(body.error_code).toBe(error_code);
      }
      const { body } = await invoke(server, wire, 'grants.revoke', { grant_id }, own.bearer);
      expect(body.error_code).toBe('grant_not_found');
    }
    expect((await convert('REST', code, own.bearer)).status).toBe(200);
  });

  test.each(wires)('is converted by exactly one of 32 concurrent calls, over %s', async (wire) => {
    const { issue, bearer } = await linkedApplication(server);
    const { code, grant_id } = await issue();
    const calls = Array.from({ length: 32 }, () =>
      invoke(server, wire, 'grants.convert', { code }, bearer),
    );
    const responses = await Promise.all(calls);
    const winners = responses.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    const losers = responses.filter(({ status }) => status !== 200);
    for (const { body } of losers) {
      expect(body).toMatchObject({ error_code: 'code_already_used', grant_id });
    }
    const grant = winners[0]?.body;
    expect((await invoke(server, wire, 'account.get', {}, asBearer(grant))).status).toBe(200);
  });
});
