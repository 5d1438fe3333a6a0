import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@latchkey/store/store';
import {
  anAccount,
  anInitiator,
  granted,
  issued,
  redemptionOf,
} from '@latchkey/store-suite/records';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { watchDatabaseFile } from '../src/database-file.ts';
import { openSqliteStore } from '../src/sqlite-store.ts';
import { damage } from './damage.ts';

describe('the file of a running store', () => {
  let directory: string;
  let path: string;
  let store: Store;
  let replaced: string[];
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'latchkey-file-'));
    path = join(directory, 'a.db');
    replaced = [];
    store = await openSqliteStore({
      path,
      clock: Date.now,
      onLost: ({ message }) => replaced.push(message),
    });
  });
  afterEach(async () => {
    await store.close();
    rmSync(directory, { recursive: true });
  });

  // Regression: the service went on with the old file, and lost all of it at the next start.
  test.each<[string, () => void]>([
    ['moved', () => renameSync(path, `${path}.moved`)],
    ['deleted', () => rmSync(path)],
    [
      'replaced',
      () => {
        copyFileSync(path, `${path}.backup`);
        renameSync(`${path}.backup`, path);
      },
    ],
    ['left without its log', () => rmSync(`${path}-wal`)],
  ])('%s: every read and write is refused from then on', async (_, change) => {
    const code = await issued(store);
    const { grant } = await granted(store);
    change();
    const unavailable = { code: 'store_unavailable' };
    await expect(store.redeemCode(redemptionOf(code))).rejects.toMatchObject(unavailable);
    await expect(store.findCode(code.grant_id)).rejects.toMatchObject(unavailable);
    await expect(
      store.authenticateGrant(grant.grant_id, { currentAccount: false }),
    ).rejects.toMatchObject(unavailable);
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    expect(replaced).toHaveLength(1);
    expect(replaced[0]).toContain('restart every process');
  });

  test('put back in place, it is still refused until a restart', async () => {
    renameSync(path, `${path}.moved`);
    await expect(store.ping()).rejects.toThrow();
    renameSync(`${path}.moved`, path);
    await expect(store.ping()).rejects.toThrow();
  });

  // Regression: the write was made in the moved file, and reported as not made.
  test('put back in place, it lacks the write that was refused', async () => {
    const code = await issued(store);
    for (const name of [path, `${path}-wal`]) renameSync(name, `${name}.moved`);
    await expect(store.redeemCode(redemptionOf(code))).rejects.toMatchObject({
      code: 'store_unavailable',
    });
    await store.close();
    rmSync(`${path}-shm`, { force: true });
    for (const name of [path, `${path}-wal`]) renameSync(`${name}.moved`, name);
    store = await openSqliteStore({ path, clock: Date.now });
    expect(await store.findCode(code.grant_id)).toMatchObject({ redeemed: false });
  });

  // Regression: a read of a damaged page failed, and the next revocation said that there is no grant.
  test('damaged: from the first error on, every read and write is refused', async () => {
    const { grant } = await granted(store);
    await store.close();
    damage(path, 'grants');
    store = await openSqliteStore({
      path,
      clock: Date.now,
      onLost: ({ message }) => replaced.push(message),
    });
    await store.ping();
    const unavailable = { code: 'store_unavailable' };
    const { grant_id } = grant;
    const revocation = {
      grant_id,
      application_id: null,
      now: Date.now(),
      initiator: anInitiator(),
    };
    await expect(store.revokeGrant(revocation)).rejects.toMatchObject(unavailable);
    await expect(store.ping()).rejects.toMatchObject(unavailable);
    await expect(store.putAccount(anAccount())).rejects.toMatchObject(unavailable);
    expect(replaced).toEqual([expect.stringContaining(`${path} is damaged. Stop every process`)]);
  });

  test('is the same after another process has worked on it and cleaned it up', async () => {
    const other = await openSqliteStore({ path, clock: Date.now });
    const code = await issued(other);
    await other.close();
    expect(await store.findCode(code.grant_id)).not.toBeNull();
    expect(replaced).toEqual([]);
  });
});

describe('opening a file', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'latchkey-file-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test.skipIf(process.platform === 'win32')(
    'takes the rights of others off it, and says so',
    async () => {
      const path = join(directory, 'a.db');
      writeFileSync(path, '', { mode: 0o644 });
      const warnings: string[] = [];
      const open = () =>
        openSqliteStore({ path, clock: Date.now, onWarning: (message) => warnings.push(message) });
      await (await open()).close();
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(warnings).toEqual([expect.stringContaining('mode 644')]);
      await (await open()).close();
      expect(warnings).toHaveLength(1);
    },
  );

  test('creates none if it is not meant to', async () => {
    const path = join(directory, 'none', 'a.db');
    await expect(openSqliteStore({ path, clock: Date.now, create: false })).rejects.toMatchObject({
      code: 'store_unavailable',
      cause: { message: expect.stringContaining('There is no database at') },
    });
    expect(existsSync(join(directory, 'none'))).toBe(false);
  });
});

// On a full disk, a database can be opened before there is room for its log.
test('a log that comes after the opening is no replacement', () => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-file-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const path = join(directory, 'a.db');
  writeFileSync(path, '');
  const { verify } = watchDatabaseFile(path, () => {});
  writeFileSync(`${path}-wal`, '');
  expect(verify).not.toThrow();
});
