import type { Change } from './change.ts';

const OPERATIONS = `import type { Adapter } from '../adapter.ts';
import { type Givens, lessThan, when } from '../condition.ts';
import type { ListRange } from '../inputs.ts';
import { notices as kind } from '../kinds.ts';
import type { NoticeRecord } from '../records.ts';

export function notices(db: Adapter) {
  const list = db.list(
    kind,
    ({ topic, before }: Givens<{ topic: string; before: string | null }>) => [
      { topic },
      when(before, { id: lessThan(before) }),
    ],
    ['id', 'topic', 'text', 'expires_at'],
    (notice) => notice,
    { index: 'notices_by_topic', order: { by: ['id'], descending: true } },
  );
  return {
    keepNotice: db.insertOnce<typeof kind, NoticeRecord>(kind),

    /** Those with a topic, newest first. */
    listNotices: (topic: string, range: ListRange) => list({ topic, ...range }),
  };
}
`;

const SUITE = `import { expect, test } from 'vitest';
import type { SuiteStores } from './harness.ts';
import { aNotice } from './records.ts';

export function describeNotices(stores: SuiteStores): void {
  test('a notice is listed with those of its topic, newest first', async () => {
    const { store } = stores;
    const [old, other, young] = [{ topic: 'a' }, { topic: 'b' }, { topic: 'a' }].map(aNotice);
    for (const notice of [old, other, young]) await store.keepNotice(notice as never);
    const all = await store.listNotices('a', { limit: 9, before: null });
    expect(all).toEqual([young, old]);
    const before = young?.id ?? null;
    expect(await store.listNotices('a', { limit: 9, before })).toEqual([old]);
  });
}
`;

/** A record that expires, with a write and a list. */
export const addRecord: Change = {
  name: 'add a small record',
  guide: 'Add a kind of record',
  files: {
    'packages/store/src/kinds.ts': [
      {
        at: 'export const endpointOwners = kind(\n',
        before: `export const notices = kind(
  'notices',
  { id: id(), topic: text(), text: text(), expires_at: time() },
  {
    key: 'id',
    indexes: { notices_by_topic: { on: ['topic', 'id'] } },
    expiry: { at: 'expires_at' },
    copied: 'all',
  },
);

`,
      },
    ],
    'packages/store/src/records.ts': [
      {
        at: '/** One event for one endpoint. */\n',
        before: 'export type NoticeRecord = RecordOf<typeof notices>;\n\n',
      },
      { at: '  pages,\n', before: '  notices,\n' },
    ],
    'packages/store/src/operations/notices.ts': OPERATIONS,
    'packages/store/src/operations/operations.ts': [
      {
        at: "import { pages } from './pages.ts';\n",
        before: "import { notices } from './notices.ts';\n",
      },
      { at: '    ...pages(db),\n', after: '    ...notices(db),\n' },
    ],
    'packages/store-suite/src/notices.ts': SUITE,
    'packages/store-suite/src/index.ts': [
      {
        at: "import { describePages } from './pages.ts';\n",
        before: "import { describeNotices } from './notices.ts';\n",
      },
      { at: '    describePages(stores);\n', before: '    describeNotices(stores);\n' },
    ],
    'packages/store-suite/src/records.ts': [
      { at: '  PageRecord,\n', before: '  NoticeRecord,\n' },
      {
        at: 'export function aKey(',
        before: `export function aNotice(members: Partial<NoticeRecord> = {}): NoticeRecord {
  const expires_at = Date.now() + 86_400_000;
  return { id: anId(), topic: anId(), text: 'Closed on Sunday.', expires_at, ...members };
}

`,
      },
    ],
    'packages/store-suite/src/calls.ts': [
      { at: '  anAccount,\n', before: '  aNotice,\n' },
      {
        at: '  createPage: (store) =>',
        before: `  keepNotice: (store) => store.keepNotice(aNotice()),
  listNotices: (store) => store.listNotices(anId(), { limit: 1, before: null }),
`,
      },
    ],
    'packages/store-suite/src/model-store.ts': [
      { at: '  type PageRecord,\n', before: '  type NoticeRecord,\n' },
      {
        at: '  pages: new Map<string, ModelPage>(),\n',
        before: '  notices: new Map<string, NoticeRecord>(),\n',
      },
      {
        at: '    // Rate limits\n',
        before: `    // Notices

    keepNotice(notice) {
      insert(state.notices, notice.id, notice);
    },

    listNotices(topic, range) {
      const found = [...state.notices.values()].filter(isLike({ topic }));
      return newestFirst(found, ({ id }) => id, range);
    },

`,
      },
      {
        at: '  remove(refusals, ({ expires_at }) => expires_at <= now);\n',
        after: '  remove(state.notices, ({ expires_at }) => expires_at <= now);\n',
      },
    ],
    'packages/store-suite/src/every-operation.ts': [
      { at: '  anAccount,\n', before: '  aNotice,\n' },
      {
        at: '  const refusal = aRefusal();\n',
        before: `  const notice = aNotice();
  await store.keepNotice(notice);
  for (const range of ranges) await store.listNotices(notice.topic, range);

`,
      },
    ],
    'packages/store-suite/src/sweep.ts': [
      { at: '  anId,\n', before: '  aNotice,\n' },
      {
        at: '      await stores.store.keepRefusals([past, kept]);\n',
        after: `      const notices = [request_id, kept.id].map((topic) => aNotice({ topic }));
      await stores.store.keepNotice({ ...aNotice(notices[0]), expires_at: code_expires_at });
      await stores.store.keepNotice(aNotice(notices[1]));
      const noticesOf = (topic: string) =>
        stores.store.listNotices(topic, { limit: 9, before: null });
`,
      },
      {
        at: '      await vi.waitFor(async () => expect(await over()).toEqual([null, null]), {\n',
        before: `      await vi.waitFor(async () => expect(await noticesOf(request_id)).toEqual([]), {
        timeout: stores.sweepTimeout,
        interval: 250,
      });
      expect(await noticesOf(kept.id)).toEqual([notices[1]]);
`,
      },
    ],
    'deploy/mongodb/indexes.js': [
      {
        at: 'db.pages.createIndex({ account_id: 1 }, ',
        before: `db.notices.createIndex(
  { expires_at: 1 },
  { name: 'notices_by_expiry', expireAfterSeconds: 0 },
  'majority',
);
db.notices.createIndex({ topic: 1, _id: 1 }, { name: 'notices_by_topic' }, 'majority');
`,
      },
    ],
  },
  tests: [
    'packages/store/src',
    'packages/store-suite',
    'packages/store-sqlite/test/sqlite-store.test.ts',
    'packages/store-sqlite/test/statements.test.ts',
    'packages/store-mongodb/test/indexes.test.ts',
    'packages/store-mongodb/test/concerns.test.ts',
  ],
  // The slow test of MongoDB's statements asks for every-operation.ts.
  proofs: [
    'packages/store-suite/src/index.ts',
    'packages/store-suite/src/every-operation.ts',
    'packages/store-suite/src/sweep.ts',
  ],
};
