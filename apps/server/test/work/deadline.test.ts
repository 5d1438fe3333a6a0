import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@latchkey/domain/domain-error';
import { inRequest } from '@latchkey/domain/request-scope';
import { createRunner } from '@latchkey/rules/work/runner';
import pino from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { callOperation } from '../../src/operations/call-operation.ts';
import { succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { type LinkedApplication, linkedApplication } from '../http/linked-application.ts';
import { operator, type ServerWithDatabase, useServer } from '../http/running-server.ts';

const DEADLINE = 50;
/** On a busy machine, the mark itself may take longer than the deadline. */
const ROUNDS = 20;

/** The service, with a store that is so slow that the deadline is over once a mark is written. */
function slowService({ service }: ServerWithDatabase) {
  const late =
    <Input extends unknown[], T>(write: (...input: Input) => Promise<T>) =>
    async (...input: Input): Promise<T> => {
      const written = await write(...input);
      await sleep(DEADLINE);
      return written;
    };
  const { markErasure, markRevocation, deleteApplication, doStep } = service.store;
  const store = {
    ...service.store,
    markErasure: late(markErasure),
    markRevocation: late(markRevocation),
    deleteApplication: late(deleteApplication),
    doStep: late(doStep),
  };
  const { clock, counts } = service;
  const { inProcess } = service.driver;
  const log = pino({ enabled: false });
  const runner = createRunner(store, { inProcess, clock, counts, log, onError() {} });
  onTestFinished(() => runner.close());
  return { ...service, store, runner };
}

describeOnEachStore('with a deadline of 50 ms,', (fresh) => {
  const server = useServer(fresh);

  test.each([
    ['admin.accounts.erase', 'erasing', 'account'],
    ['admin.applications.delete', 'deleting', 'application'],
    ['admin.grants.revokeAll', 'revoking', 'account'],
    ['admin.grants.revokeAll', 'revoking', 'application'],
    ['admin.connections.revoke', 'revoking', 'both'],
  ] as const)('%s answers %s once the mark of the %s is written', async (name, state, of) => {
    const service = slowService(server);
    const partiesOf = ({ account_id, application_id }: LinkedApplication) => ({
      ...(of !== 'application' && { account_id }),
      ...(of !== 'account' && { application_id }),
    });
    const answers: unknown[] = [];
    while (answers.at(-1) !== state && answers.length < ROUNDS) {
      const linked = await linkedApplication(server);
      const { grant_id } = await linked.link();
      if (name === 'admin.applications.delete') {
        const { application_id } = linked;
        await succeed(server, 'admin.applications.disable', { application_id }, operator);
      }
      const endsAt = performance.now() + DEADLINE;
      const call = () => callOperation(service, name, partiesOf(linked) as never);
      const answer = await inRequest(call, { endsAt }).then(
        (answered) => (answered as { state: string }).state,
        (error) => DomainError.from(error).code,
      );
      answers.push(answer);
      const { revoked_at } = (await server.service.store.findGrantHistory(grant_id)) ?? {};
      // The one error says that nothing was changed, the other that it is not known: the mark itself was late.
      if (answer === 'store_unavailable') expect(revoked_at).toBe(null);
      else if (answer !== 'outcome_unknown')
        expect([answer, revoked_at]).toEqual([state, expect.any(Number)]);
    }
    expect(answers.at(-1)).toBe(state);
    await vi.waitFor(async () => expect(await service.store.listWork(1)).toEqual([]), 20_000);
  });
});
