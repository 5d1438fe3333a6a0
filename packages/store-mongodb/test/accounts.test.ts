import { erase } from '@latchkey/store-suite/finish';
import { aHash, anAccount, anApplication, anId, anInitiator } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { fromId, toHash, toId } from '../src/values.ts';
import { applicationDocument } from './documents.ts';
import { batch, failure } from './scripted-server.ts';
import { scripted } from './scripted-store.ts';

const erasure = { account_id: anId(), now: 2, initiator: anInitiator() };

test('an erasure finds a link request whose code is redeemed while it looks for both', async () => {
  const { server, store } = await scripted();
  const link = { _id: toId(anId()) };
  const account = { _id: toId(erasure.account_id), revision: 1, account: anAccount() };
  let isRedeemed = false;
  server.on('find', ({ find }) => {
    // The host approves, and the application redeems the code, just before the codes are read.
    if (find === 'grants') isRedeemed = true;
    const isLeft = server.sent('delete').every((command) => command.delete !== 'links');
    if (find === 'accounts') return batch(account);
    return batch(...(find === 'links' && isRedeemed && isLeft ? [link] : []));
  });
  await erase(store, erasure);
  const [deletion] = server.sent('delete').filter((command) => command.delete === 'links');
  expect(deletion?.deletes[0].q).toEqual({ _id: { $in: [link._id] } });
});

test('a grant whose erasure is under way is refused, whatever is asked for with it', async () => {
  const { server, store } = await scripted();
  const [_id, application, account] = [toId(anId()), anApplication(), anAccount()];
  const account_id = toId(account.id);
  const erasure = { kind: 'erasure', before: 2, at: 1, by: anInitiator() };
  const mark = { _id: account_id, erased_at: new Date(1), revision: 2, endings: [erasure] };
  server.on('aggregate', () =>
    batch({
      ...{ _id, account_id, application_id: toId(application.id), scope: 'profile.read' },
      ...{ account, code_hash: toHash(aHash()), created_at: new Date(0) },
      secret_hash: toHash(aHash()),
      joined_application: [applicationDocument(application)],
      joined_account: [mark],
      joined_current: [mark],
    }),
  );
  for (const currentAccount of [true, false]) {
    const found = await store.authenticateGrant(fromId(_id), { currentAccount });
    expect(found).toMatchObject({ secret_hash: null, grant: { revoked_at: 1 } });
  }
});

test('an erasure that was interrupted goes on with the names from where it was', async () => {
  const { server, store } = await scripted();
  const [_id, erased_until] = [toId(anId()), toId(anId())];
  const ending = { kind: 'erasure', before: 2, at: 1, by: anInitiator() };
  const mark = { _id, erased_at: new Date(1), erased_until, revision: 2, endings: [ending] };
  server.on('find', ({ find }) => batch(...(find === 'accounts' ? [mark] : [])));
  await erase(store, { account_id: fromId(_id), now: 2, initiator: anInitiator() });
  const names = server.sent('find').find(({ hint }) => hint === 'grants_by_account');
  expect(names?.filter).toMatchObject({ account_id: _id, _id: { $gt: erased_until } });
});

test('work that fails behind the mark of an erasure is not said to have changed nothing', async () => {
  const { server, store } = await scripted();
  server.on('find', ({ find }) => (find === 'accounts' ? batch() : failure(13, 'Unauthorized')));
  const work = await store.markErasure(erasure);
  const step = store.doStep(work, 'pages', 9);
  await expect(step).rejects.toMatchObject({ code: 'outcome_unknown' });
});

test('an erasure whose first write is refused changed nothing', async () => {
  const { server, store } = await scripted();
  server.on('insert', () => failure(13, 'Unauthorized'));
  await expect(store.markErasure(erasure)).rejects.toMatchObject({ code: 'store_unavailable' });
});
