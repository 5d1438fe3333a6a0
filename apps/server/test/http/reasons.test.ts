import { errorDefinition, operations } from '@latchkey/schema';
import { expect, test } from 'vitest';
import { explainRequest } from '../../src/audit/explain.ts';
import { type Reason, reasons } from '../../src/reasons.ts';
import { headersOf, requestOf, send, unwrapped, type Wire, wires } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { type RefusedCall, reasonCases } from './reason-cases.ts';
import { type ServerWithDatabase, useServer } from './running-server.ts';

const names = Object.keys(reasons) as Reason[];

/** Makes a call that is refused, and tells the answer without what is of this request alone. */
async function refuse(server: ServerWithDatabase, wire: Wire, call: RefusedCall) {
  const request = requestOf(wire, call.name, call.input ?? {});
  const answer = await send(server, { ...request, authorization: call.as });
  const headers = headersOf(answer);
  const request_id = headers['x-request-id'] ?? '';
  const text = JSON.stringify([answer.status, unwrapped(wire, answer.json), headers]);
  return { request_id, wireBytes: text.replaceAll(request_id, ''), whole: answer.text };
}

describeOnEachStore('a reason', (fresh) => {
  const server = useServer(fresh);

  test.each(names)('is found out by the operator and by nobody else: %s', async (reason) => {
    const { code, found, advice } = reasons[reason];
    for (const wire of wires) {
      for (const arrange of reasonCases[reason]) {
        const linked = await linkedApplication(server);
        const call = await arrange(linked, server);
        const { request_id, whole } = await refuse(server, wire, call);
        expect(names.filter((name) => whole.includes(name))).toEqual([]);
        await server.service.audit.flush();
        const explained = await explainRequest(server.service.store, request_id);
        expect(explained).toMatchObject([
          { request_id, operation: call.name, error_code: code, reason, found, advice },
        ]);
      }
    }
  });

  test.each(wires)('is not told by what the answer over %s looks like', async (wire) => {
    const answers = new Map<string, Set<string>>();
    const causes = new Map<string, number>();
    for (const reason of names) {
      for (const arrange of reasonCases[reason]) {
        const linked = await linkedApplication(server);
        const call = await arrange(linked, server);
        const { wireBytes } = await refuse(server, wire, call);
        // The word of an error is another for a grant (RFC 6750, section 3.1).
        const kind = operations[call.name].caller === 'grant' ? 'grant' : 'client';
        const { code } = reasons[reason];
        // These are told their grant id, and that they are what they are.
        if (code === 'code_already_used' || code === 'code_expired') continue;
        const key = `${code} ${kind}`;
        answers.set(key, (answers.get(key) ?? new Set()).add(wireBytes));
        causes.set(key, (causes.get(key) ?? 0) + 1);
      }
    }
    for (const [key, seen] of answers)
      expect({ key, answers: seen.size }).toEqual({ key, answers: 1 });
    expect(Object.fromEntries(causes)).toMatchObject({
      'credentials_invalid client': expect.any(Number),
      'credentials_invalid grant': expect.any(Number),
      'code_not_found client': expect.any(Number),
      'grant_not_found client': expect.any(Number),
      'grant_not_recoverable client': 2,
    });
  });

  test('is not needed where the code says it all', async () => {
    const { bearer } = await linkedApplication(server);
    const call: RefusedCall = { name: 'grants.revoke', input: { grant_id: '7' }, as: bearer };
    const { request_id } = await refuse(server, 'REST', call);
    await server.service.audit.flush();
    const { title, help } = errorDefinition('parameter_invalid');
    expect(await explainRequest(server.service.store, request_id)).toMatchObject([
      { error_code: 'parameter_invalid', reason: null, found: `${title}.`, advice: help },
    ]);
  });
});
