import { expect, test } from 'vitest';
import { batch } from '../../../test/store/mongodb/scripted-server.ts';
import { scripted } from '../../../test/store/mongodb/scripted-store.ts';
import { anId } from '../../../test/store/suite/records.ts';
import { toId } from './documents.ts';

test('an erasure finds a link request whose code is redeemed while it looks for both', async () => {
  const { server, store } = await scripted();
  const link = { _id: toId(anId()) };
  let isRedeemed = false;
  server.on('find', ({ find }) => {
    // The host approves, and the application redeems the code, just before the codes are read.
    if (find === 'grants') isRedeemed = true;
    return batch(...(find === 'links' && isRedeemed ? [link] : []));
  });
  await store.eraseAccount({ account_id: anId(), now: 0 });
  const [deletion] = server.sent('delete').filter((command) => command.delete === 'links');
  expect(deletion?.deletes[0].q).toEqual({ _id: { $in: [link._id] } });
});
