import { reasons } from '@latchkey/domain/reasons';
import { errorDefinition, operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { headersOf, requestOf, send, unwrapped, type Wire, wires } from './call.ts';
import { describeOnAnyStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { type ReasonOfRules, type RefusedCall, reasonCases } from './reason-cases.ts';
import { refusalsOf } from './refusals-of.ts';
import { type ServerWithDatabase, useServer } from './running-server.ts';

const names = Object.keys(reasonCases) as ReasonOfRules[];

/** Makes a call that is refused. `wireBytes` is its response without the request id. */
async function refuse(server: ServerWithDatabase, wire: Wire, call: RefusedCall) {
  const request = requestOf(wire, call.name, call.input ?? {});
  const response = await send(server, { ...request, authorization: call.as });
  const headers = headersOf(response);
  const request_id = headers['x-request-id'] ?? '';
  const text = JSON.stringify([response.status, unwrapped(wire, response.json), headers]);
  return { request_id, wireBytes: text.replaceAll(request_id, ''), whole: response.text };
}

describeOnAnyStore('each reason', (fresh) => {
  const server = useServer(fresh);

  test.each(wires)('over %s is visible to the operator and to no client', async (wire) => {
    const refusals: { reason: ReasonOfRules; name: string; request_id: string }[] = [];
    const responses = new Map<string, Set<string>>();
    for (const reason of names) {
      for (const arrange of reasonCases[reason]) {
        const call = await arrange(await linkedApplication(server), server);
        const { request_id, wireBytes, whole } = await refuse(server, wire, call);
        refusals.push({ reason, name: call.name, request_id });
        const { code } = reasons[reason];
        // A reason that is its code's only one may have its name.
        expect(names.filter((name) => name !== code && whole.includes(name))).toEqual([]);

        // This one is told the id of its own grant.
        if (code === 'code_already_used') continue;
        // For a grant, the `error` is a different word (RFC 6750, section 3.1).
        const caller = operations[call.name].caller === 'grant' ? 'grant' : 'client';
        const alike = responses.get(`${code} ${caller}`) ?? new Set();
        responses.set(`${code} ${caller}`, alike.add(wireBytes));
      }
    }
    const variants = [...responses].map(([which, { size }]) => [which, size]);
    expect(variants).toEqual([...responses.keys()].map((which) => [which, 1]));

    await server.service.audit.flush();
    for (const { reason, name, request_id } of refusals) {
      const { code: error_code, found, advice } = reasons[reason];
      expect(await refusalsOf(server.service, request_id)).toMatchObject([
        { request_id, operation: name, error_code, reason, found, advice },
      ]);
    }
  });

  test('is left out if the error code has only one', async () => {
    const { bearer } = await linkedApplication(server);
    const call: RefusedCall = { name: 'grants.revoke', input: { grant_id: '7' }, as: bearer };
    const { request_id } = await refuse(server, 'REST', call);
    await server.service.audit.flush();
    const { title, help } = errorDefinition('parameter_invalid');
    expect(await refusalsOf(server.service, request_id)).toMatchObject([
      { error_code: 'parameter_invalid', reason: null, found: `${title}.`, advice: help },
    ]);
  });
});
