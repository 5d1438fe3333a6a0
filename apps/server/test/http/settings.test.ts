import { describe, expect, test } from 'vitest';
import { callOperation } from '../../src/operations/call-operation.ts';
import { startDemo } from '../demo/running-demo.ts';
import { invoke, type Json, succeed, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { ADMIN_SECRET, operator, useServer } from './running-server.ts';

const PREVIOUS = 'the-secret-of-the-operator-until-yesterday';

const settingOf = ({ data }: Json, name: string) =>
  data.find((setting: Json) => setting.name === name);

describeOnAnyStore('the settings in force', (fresh) => {
  const server = useServer(fresh, {
    ...{ ADMIN_SECRET_PREVIOUS: PREVIOUS, PAGE_NAME: 'Example Shop' },
  });

  test.each(wires)('are told without a secret, over %s', async (wire) => {
    const { status, body, headers } = await invoke(
      server,
      wire,
      'admin.settings.get',
      {},
      operator,
    );
    expect([status, body.object, headers.get('cache-control')]).toEqual([
      200,
      'settings',
      'no-store',
    ]);
    expect(settingOf(body, 'PAGE_NAME')).toEqual({
      ...{ name: 'PAGE_NAME', value: 'Example Shop', source: 'environment' },
    });
    expect(settingOf(body, 'LOG_LEVEL')).toMatchObject({ value: 'info', source: 'default' });
    for (const name of ['ADMIN_SECRET', 'ADMIN_SECRET_PREVIOUS']) {
      expect(settingOf(body, name)).toMatchObject({ value: null, source: 'environment' });
    }
    // The database of a test may have a user, and a query.
    const [address] = server.database.url.replace(/(?<=\/\/)[^/]*@/, '').split('?');
    expect(settingOf(body, 'DATABASE_URL')).toMatchObject({ value: address });
    const text = JSON.stringify(body);
    for (const secret of [ADMIN_SECRET, PREVIOUS]) expect(text).not.toContain(secret);
  });

  test('are read without an audit line, and their refusal has one', async () => {
    const { secret } = await succeed(
      server,
      'admin.keys.create',
      { name: 'Host', role: 'host' },
      operator,
    );
    server.lines.length = 0;
    await succeed(server, 'admin.settings.get', {}, operator);
    const refused = await invoke(server, 'REST', 'admin.settings.get', {}, `Bearer ${secret}`);
    expect(refused.body.error_code).toBe('right_missing');
    const lines = server.lines.map((line): Json => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'audit')).toMatchObject([
      { action: 'admin.settings.get', by: 'operator', result: 'right_missing' },
    ]);
  });
});

describe('in the demo', () => {
  test('are those that it has set itself', async () => {
    const demo = await startDemo();
    const settings = await callOperation(demo.service, 'admin.settings.get', {});
    await demo.close();
    expect(settingOf(settings, 'PUBLIC_URL')).toMatchObject({ value: demo.url, source: 'default' });
    expect(settingOf(settings, 'SIGN_IN_URL')).toMatchObject({
      ...{ value: `${demo.url}/demo/sign-in`, source: 'default' },
    });
  });
});
