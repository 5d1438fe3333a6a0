import type { Done } from '@latchkey/store/store';
import { expect, test, vi } from 'vitest';
import { invoke, type Json, succeed } from '../http/call.ts';
import { describeOnEachStore } from '../http/databases.ts';
import { asBearer, linkedApplication } from '../http/linked-application.ts';
import { operator, useServer } from '../http/running-server.ts';
import { waysToEnd } from '../http/ways-to-end.ts';
import { LINKING } from '../linking/link-flow.ts';

/** A step that does nothing, and is answered at once. */
const HELD: Done = { isOver: false, isHeld: true, changed: 0, revoked: [], codes_cancelled: 0 };

describeOnEachStore('what a mark has ended', (fresh) => {
  const server = useServer(fresh, LINKING, { work: { lookEvery: 50 } });
  const marks = waysToEnd(server).filter(({ by }) => by === 'work/runner.ts');

  test.each(marks)(
    'by $name has ended for everybody, before any of it is written down',
    async ({ reason, end }) => {
      const linked = await linkedApplication(server);
      const { account_id, application_id, bearer } = linked;
      const [grant, { code }] = [await linked.link(), await linked.issue()];
      const { grant_id } = grant;
      const isErased = reason === 'account_erased';
      const isDeleted = reason === 'application_deleted';
      const call = async (name: Parameters<typeof invoke>[2], input: object, by: string) => {
        const { status, body } = await invoke(server, 'REST', name, { ...input }, by);
        return status === 200 ? body : body.error_code;
      };
      const found = (name: Parameters<typeof succeed>[1], input: Record<string, unknown>) =>
        succeed(server, name, input, operator);

      async function expectEnded(at: string) {
        const credentials = 'credentials_invalid';
        expect(await call('account.get', {}, asBearer(grant))).toBe(credentials);
        expect(await call('grants.convert', { code }, bearer)).toBe(
          isDeleted ? credentials : 'code_not_found',
        );
        expect(await call('grants.introspect', { token: grant.grant_secret }, bearer)).toEqual(
          isDeleted ? credentials : { active: false },
        );
        for (const of of [{ account_id }, { application_id }]) {
          const { data } = await found('admin.grants.list', of);
          expect(data).toMatchObject([{ grant_id, revoked: true, revoked_at: at }]);
          if (isErased) expect(JSON.stringify(data)).not.toMatch(/"ada/i);
        }
        expect((await found('admin.connections.list', { account_id })).data).toEqual([]);
        const { data: history } = await found('admin.grants.history', { grant_id });
        const ends = history.filter(({ what }: Json) => what === 'revoked');
        expect(ends).toEqual([expect.objectContaining({ at, reason })]);
        const { grants, codes } = isErased
          ? { grants: null, codes: null }
          : await found('admin.accounts.export', { account_id });
        if (isErased)
          expect(await call('admin.accounts.get', { account_id }, operator)).toBe(
            'account_not_found',
          );
        else expect([grants, codes]).toEqual([[expect.objectContaining({ revoked_at: at })], []]);
      }

      const held = vi.spyOn(server.service.store, 'doStep').mockResolvedValue(HELD);
      const at = new Date(server.now()).toISOString().replace('Z', '+00:00');
      const answer = (await end(linked, grant)) as Json;
      const states = {
        account_erased: 'erasing',
        application_deleted: 'deleting',
        host: 'revoking',
      };
      if (reason === 'user') expect(answer.status).toBe(303);
      else expect(answer.state).toBe(states[reason as keyof typeof states]);
      // Of what is written down later, some other time would be seen.
      server.advance(1_000);
      await expectEnded(at);
      expect((await server.service.store.listWork(1)).map((one) => one.at)).toEqual([
        Date.parse(at),
      ]);

      held.mockRestore();
      await vi.waitFor(
        async () => expect(await server.service.store.listWork(1)).toEqual([]),
        20_000,
      );
      await expectEnded(at);
    },
  );
});
