import { expect, test } from 'vitest';
import { keepDocument } from './kept-documents.ts';

test('a document is not taken for written while the database has no room for it', async () => {
  const world = { isFull: true, kept: 0, isWritten: false };
  const service = {
    store: {
      async keepDocument() {
        world.kept += 1;
      },
    },
    room: { isFull: async () => world.isFull },
    linking: {
      clientDocuments: {
        async write(_: string, keep: () => Promise<void>) {
          await keep();
          world.isWritten = true;
        },
      },
    },
  } as never;
  await keepDocument(service, 'https://a.example/client.json');
  expect(world).toMatchObject({ kept: 0, isWritten: false });
  world.isFull = false;
  await keepDocument(service, 'https://a.example/client.json');
  expect(world).toMatchObject({ kept: 1, isWritten: true });
});
