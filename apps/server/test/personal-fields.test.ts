import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { newId } from '@latchkey/domain/credentials/credentials';
import { exportAccount } from '@latchkey/rules/accounts/export-account';
import { createExportTurns } from '@latchkey/rules/accounts/export-turns';
import { formatTimestamp } from '@latchkey/schema';
import type { Givens } from '@latchkey/store/condition';
import type { AnyKind, Field, FieldType } from '@latchkey/store/kind';
import * as declared from '@latchkey/store/kinds';
import { alone, sqliteAdapter } from '@latchkey/store-sqlite/adapter';
import { openSqliteStore } from '@latchkey/store-sqlite/sqlite-store';
import { erase } from '@latchkey/store-suite/finish';
import { anAccount, anId, anInitiator } from '@latchkey/store-suite/records';
import { expect, test } from 'vitest';
import { accountExportText } from '../src/operations/wire.ts';

const kinds = Object.values(declared).filter(
  (one): one is AnyKind => 'fields' in one && 'key' in one,
);

/** The fields that name an account. */
const NAMES_ACCOUNT = ['account_id', 'names_of'];
const isAbout = (kind: AnyKind) =>
  kind === declared.accounts || NAMES_ACCOUNT.some((name) => name in kind.fields);

/** What an erasure itself sets, or asks for. */
const OF_ERASURE = [
  'erased_at',
  'erased_by',
  'erased_until',
  'endings',
  'unfinished_since',
  'place',
];
const OLDER = ['account_revision', 'revision', 'sign_outs'];
const NOT_LOOKED_FOR = [...NAMES_ACCOUNT, ...OF_ERASURE, ...OLDER];

const FIRST_TIME = 1_700_000_000_000;
let count = 0;
/** A value that nothing else has. */
const values: Record<FieldType, () => unknown> = {
  id: () => newId(Date.now()),
  bytes: () => crypto.getRandomValues(new Uint8Array(32)),
  text: anId,
  time: () => FIRST_TIME + ++count,
  number: () => 7_000_000 + ++count,
  flag: () => true,
  json: () => ({ mark: anId() }),
  by: () => anInitiator({ by: 'operator' }),
};

/** What of a value is found again. */
function wordsOf(value: unknown): string[] {
  if (value instanceof Uint8Array) return [Buffer.from(value).toString('hex')];
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(wordsOf);
  if (typeof value === 'number')
    return value < FIRST_TIME ? [`${value}`] : [`${value}`, formatTimestamp(value)];
  // Not `operator`, which others have too.
  return typeof value === 'string' && value.length > 8 ? [value] : [];
}

// A field that is added to a record has to appear in the file, with what becomes of it.
test('what an export has and an erasure leaves of each field is as it was reviewed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-personal-'));
  const path = join(folder, 'latchkey.db');
  const store = await openSqliteStore({ path, clock: Date.now });
  const raw = new DatabaseSync(path);
  const db = sqliteAdapter(raw, alone);

  const account = { ...anAccount(), username: anId(), display_name: anId(), twitter: anId() };
  const { id, ...person } = account;
  const inserted: { kind: AnyKind; key: string; record: Record<string, unknown> }[] = [];

  async function insert(kind: AnyKind, members: Record<string, unknown> = {}): Promise<void> {
    const fields = Object.entries(kind.fields as Record<string, Field<unknown>>);
    const record = Object.fromEntries(
      fields.map(([name, { type }]) => {
        if (NAMES_ACCOUNT.includes(name)) return [name, id];
        if (OF_ERASURE.includes(name)) return [name, name === 'place' ? anId() : null];
        return [name, OLDER.includes(name) ? 0 : values[type]()];
      }),
    );
    Object.assign(record, members);
    await db.insertNew(kind)([record as never]);
    inserted.push({ kind, key: String(record[kind.key]), record });
  }

  for (const kind of kinds.filter(isAbout)) {
    if (kind === declared.accounts) await insert(kind, { id, account, revision: 0 });
    else if (kind === declared.grants) {
      await insert(kind, { account: person, code_expires_at: null });
      await insert(kind, {
        ...{ account: person, created_at: null, revoked_at: null, secret_hash: null },
        code_expires_at: Date.now() + 300_000,
      });
    } else if (kind === declared.deliveries) {
      await insert(kind, { ended_at: null });
      await insert(kind, { due_at: null, claim: null });
    } else if (kind === declared.refusals) await insert(kind, { expires_at: Date.now() + 300_000 });
    else await insert(kind);
  }

  let exported = '';
  const service = { store, exportTurns: createExportTurns(), audit: { flush: async () => {} } };
  for await (const text of accountExportText(exportAccount(service, id))) exported += text;
  await erase(store, { account_id: id, now: Date.now(), initiator: anInitiator() });

  const lines = new Set<string>(
    kinds.filter((kind) => !isAbout(kind)).map(({ name }) => `${name}: no field names an account`),
  );
  const told = new Map<string, { isExported: boolean; isLeft: boolean }>();
  for (const { kind, key, record } of inserted) {
    const names = Object.keys(kind.fields);
    const find = db.find(
      kind,
      (of: Givens<{ key: string }>) => ({ [kind.key]: of.key }),
      names,
      asIs,
    );
    const left = wordsOf(await find({ key }));
    for (const [name, value] of Object.entries(record)) {
      const words = wordsOf(value);
      if (words.length === 0 || NOT_LOOKED_FOR.includes(name)) continue;
      const field = `${kind.name}.${name}`;
      const before = told.get(field);
      told.set(field, {
        isExported: before?.isExported || words.some((word) => exported.includes(word)),
        isLeft: before?.isLeft || words.some((word) => left.includes(word)),
      });
    }
  }
  for (const [field, { isExported, isLeft }] of told) {
    lines.add(
      `${field}: ${isExported ? 'exported' : 'not exported'}, ${isLeft ? 'left' : 'erased'}`,
    );
  }
  raw.close();
  await store.close();
  await rm(folder, { recursive: true });
  await expect(`${[...lines].join('\n')}\n`).toMatchFileSnapshot('personal-fields.txt');
});

const asIs = <T>(record: T): T => record;
