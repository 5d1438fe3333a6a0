import { expect, test, vi } from 'vitest';
import { succeed } from './call.ts';
import { describeOnEachStore } from './databases.ts';
import { linkedApplication } from './linked-application.ts';
import { operator, useServer } from './running-server.ts';

describeOnEachStore('exports of one account', (fresh) => {
  const server = useServer(fresh);

  test('are made one after the other, and each is complete', async () => {
    const { account_id, link } = await linkedApplication(server);
    const { grant_id } = await link();
    const exported = () => succeed(server, 'admin.accounts.export', { account_id }, operator);
    const { store } = server.service;
    const { listCodes } = store;
    const go = Promise.withResolvers<void>();
    const list = vi.spyOn(store, 'listCodes').mockImplementation(async (id) => {
      await go.promise;
      return listCodes(id);
    });
    const both = [exported(), exported()];
    await vi.waitFor(() => expect(list).toHaveBeenCalledOnce());
    await succeed(server, 'admin.accounts.get', { account_id }, operator);
    expect(list).toHaveBeenCalledOnce();
    go.resolve();
    for (const { grants } of await Promise.all(both)) expect(grants).toMatchObject([{ grant_id }]);
    expect(list).toHaveBeenCalledTimes(2);
  });
});
