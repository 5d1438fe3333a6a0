import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { toLinkDocument } from '../../src/store/mongodb/documents/links.ts';
import { openStore } from '../../src/store/open-store.ts';
import { aLink, anId, anInitiator } from './suite/records.ts';

// What docs/operations.md multiplies with the limit "links_total".
const MOST_BYTES = 6 * 1024;

/** The largest one that a stranger can have kept, with text of four bytes a code point. */
const largest = () => ({
  ...aLink({
    redirect_uri: `http://127.0.0.1:65535/${'x'.repeat(483)}`,
    resource: { id: anId(), resource: 'x'.repeat(500), generation: 2_147_483_647 },
    scope: 'x'.repeat(1_000),
    state: 'x'.repeat(2_048),
    code_challenge: 'x'.repeat(43),
    login_hint: '\u{1f600}'.repeat(200),
    ui_locales: 'x'.repeat(100),
  }),
  initiator: {
    ...anInitiator(),
    by: 'user' as const,
    request_id: 'x'.repeat(128),
    secret_id: null,
  },
});

test('the largest link request takes at most 6 KiB in MongoDB', () => {
  expect(BSON.calculateObjectSize(toLinkDocument(largest()))).toBeLessThanOrEqual(MOST_BYTES);
});

test('the largest link request takes at most 6 KiB in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-links-'));
  const file = join(folder, 'links.db');
  const sizeWith = async (count: number) => {
    const store = await openStore(`file:${file}`, { clock: Date.now });
    await Promise.all(Array.from({ length: count }, () => store.createLink(largest())));
    await store.close();
    return (await stat(file)).size;
  };
  const empty = await sizeWith(0);
  const count = 200;
  const full = await sizeWith(count);
  await rm(folder, { recursive: true });
  expect((full - empty) / count).toBeLessThanOrEqual(MOST_BYTES);
});
