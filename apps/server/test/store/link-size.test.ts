import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { links } from '@latchkey/store/kinds';
import type { LinkedDocument } from '@latchkey/store/records';
import { documentOf } from '@latchkey/store-mongodb/encoding';
import { aLink, anId, anInitiator } from '@latchkey/store-suite/records';
import { BSON } from 'mongodb';
import { expect, test } from 'vitest';
import { driverOf } from '../../src/open-store.ts';

// What docs/operations/run.md multiplies with the limit "links_total".
const MOST_BYTES = 6 * 1024;
const MOST_BYTES_WITH_DOCUMENT = 10 * 1024;

const uri = `https://a.example/${'x'.repeat(482)}`;
const document: LinkedDocument = {
  ...{ uri, homepage_uri: uri, policy_uri: uri, tos_uri: uri, jwks_uri: uri },
  name: '\u{1f600}'.repeat(200),
  method: 'private_key_jwt',
  signing_alg: 'Ed25519',
};

const kinds: [string, number, LinkedDocument | null][] = [
  ['6 KiB', MOST_BYTES, null],
  ['10 KiB, of an application with a document', MOST_BYTES_WITH_DOCUMENT, document],
];

/** The largest one that a stranger can have kept, with text of four bytes a code point. */
const largest = (document: LinkedDocument | null) => ({
  ...aLink({
    document,
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

test.each(kinds)('the largest link request takes at most %s, in MongoDB', (_, most, document) => {
  const { initiator, decision: _none, ...link } = largest(document);
  const stored = documentOf(links)({ ...link, begin_initiator: initiator });
  expect(BSON.calculateObjectSize(stored)).toBeLessThanOrEqual(most);
});

test.each(kinds)(
  'the largest link request takes at most %s, in SQLite',
  async (_, most, document) => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-links-'));
    const file = join(folder, 'links.db');
    const url = `file:${file}`;
    const sizeWith = async (count: number) => {
      const store = await driverOf(url).open(url, { clock: Date.now });
      await Promise.all(Array.from({ length: count }, () => store.createLink(largest(document))));
      await store.close();
      return (await stat(file)).size;
    };
    const empty = await sizeWith(0);
    const count = 200;
    const full = await sizeWith(count);
    await rm(folder, { recursive: true });
    expect((full - empty) / count).toBeLessThanOrEqual(most);
  },
);
