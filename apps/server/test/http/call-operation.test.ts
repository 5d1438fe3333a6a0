import { reportGrant } from '@latchkey/rules/audit/grant-history';
import { expect, test } from 'vitest';
import { callOperation } from '../../src/operations/call-operation.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { useServer } from './running-server.ts';

describeOnAnyStore('a program that has started the service', (fresh) => {
  const server = useServer(fresh);

  test('calls as the operator, in the log and in the history of a grant', async () => {
    const { application_id, account_id } = await linkedApplication(server);
    server.lines.length = 0;
    const input = { application_id, account_id, scope: 'read' };
    const { grant_id } = await callOperation(server.service, 'admin.codes.issue', input);

    await server.service.audit.flush();
    const lines = server.lines.map((line) => JSON.parse(line));
    const [line, ...others] = lines.filter(({ msg }) => msg === 'audit');
    expect(others).toEqual([]);
    const { level, time, pid, hostname, msg, request_id, instance, line: _, ...members } = line;
    expect(members).toEqual({
      ...{ action: 'admin.codes.issue', by: 'operator', result: 'done', reason: null },
      ...{ application_id, account_id, grant_id, key_id: null, address: null },
    });
    const { data } = await reportGrant(server.service.store, grant_id);
    expect(data).toEqual([expect.objectContaining({ what: 'issued', by: 'operator', request_id })]);
    expect(data[0]).not.toHaveProperty('os_user', expect.any(String));
  });
});
