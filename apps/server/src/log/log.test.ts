import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CredentialKind, credentialPrefixes, formatCredential } from '@latchkey/schema';
import pino from 'pino';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { redactor } from './log.ts';

const ID = '0193aa00-0000-7000-8000-000000000001';
const credentials = (Object.keys(credentialPrefixes) as CredentialKind[]).map((kind) =>
  formatCredential(kind, ID, new Uint8Array(32).fill(7)),
);

/** What is written of a log object. */
function written(secrets: string[], entry: object, message: string): string {
  const lines: string[] = [];
  const redact = redactor(secrets);
  const log = pino({ base: null }, { write: (line) => void lines.push(redact(line)) });
  log.info(entry, message);
  return lines.join('');
}

test.each(credentials)('takes %s out wherever it is', (credential) => {
  const err = new Error(`no ${credential}`, { cause: new Error(`x${credential}x`) });
  const entry = { err, [credential]: { deep: [`"${credential}"`] }, two: credential + credential };
  const text = written([], entry, `message ${credential}`);
  expect(text).not.toContain(credential.slice(10));
  expect(text.match(/\[redacted\]/g)?.length).toBeGreaterThan(5);
  expect(() => JSON.parse(text)).not.toThrow();
});

test('takes the secrets of the settings out, as they are and as JSON writes them', () => {
  const admin = 'a"quote\\backslash$&and`more`/than-that';
  const password = 'pass.word*(';
  const err = new Error(`failed for ${admin} and ${password}`);
  const text = written([admin, password], { err, admin, password }, `m ${admin}`);
  expect(text).not.toContain('quote');
  expect(text).not.toContain('pass.word');
  expect(() => JSON.parse(text)).not.toThrow();
});

test('leaves everything else as it is', () => {
  const line = '{"msg":"lk_app_… and lk_codes and lk_grant_short","hint":"lk_app_…9XyZ"}\n';
  expect(redactor(['secret'])(line)).toBe(line);
});

/** A program that logs to its stderr and then does as told. */
function logging(entries: string, then: string): string[] {
  const module = new URL('log.ts', import.meta.url);
  const program = `
    import { createLog } from '${module}';
    const { log, close, flush } = createLog({ logLevel: 'info', adminSecret: null, adminSecretPrevious: null, databaseUrl: '' });
    ${entries}
    ${then}`;
  return ['--input-type=module', '-e', program];
}

describe.each(['a pipe', 'a file'])('to %s', (kind) => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-log-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  test.each([
    ['closed', 'await close(); process.exit();'],
    ['flushed, as before a crash', 'flush(); process.exit();'],
  ])('what was logged last is written when the log is %s', (_, end) => {
    const path = join(directory, 'stderr.log');
    const file = kind === 'a file' ? openSync(path, 'w') : null;
    const { stderr } = spawnSync(
      process.execPath,
      logging(`log.info('one'); log.info('two');`, end),
      { stdio: ['ignore', 'ignore', file ?? 'pipe'] },
    );
    if (file !== null) closeSync(file);
    const text = file === null ? String(stderr) : readFileSync(path, 'utf8');
    const lines = text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual(['one', 'two']);
  });
});

test('writes no line of more than 4 KiB, and no part of a credential where it is cut', () => {
  const [secret = ''] = credentials;
  // So that the bounds of a string fall on each of its characters.
  const entries = `for (let at = 0; at < ${secret.length}; at++) {
    log.info({ text: 'x'.repeat(1023 - at) + '${secret}' + 'x'.repeat(9000) }, 'long');
  }`;
  const { stderr } = spawnSync(process.execPath, logging(entries, 'await close();'));
  const lines = String(stderr).trim().split('\n');
  expect(lines).toHaveLength(secret.length);
  expect(lines.filter((line) => Buffer.byteLength(line) >= 4_096)).toEqual([]);
  expect(lines.map((line) => JSON.parse(line).truncated)).toEqual(lines.map(() => true));
  expect(String(stderr)).not.toContain(secret.slice(0, 12));
});

describe('where whoever reads the log does not', () => {
  /** Starts a program whose stderr nobody reads. */
  function unread(program: string[]) {
    const child = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  }
  const megabyte = `for (let n = 0; n < 1000; n++) log.info('x'.repeat(1000));`;

  test('goes on', async () => {
    const child = unread(
      logging(megabyte, `setTimeout(() => process.stdout.write('goes on'), 50);`),
    );
    const [said] = await once(child.stdout, 'data');
    expect(String(said)).toBe('goes on');
  });

  test('keeps a bounded part of what is logged', async () => {
    const rounds = `for (let round = 0; round < 200; round++) {
      ${megabyte}
      await new Promise(setImmediate);
    }`;
    const program = logging(rounds, `process.stdout.write('goes on'); process.exit();`);
    const child = unread(['--max-old-space-size=64', ...program]);
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  test.each([
    ['is closed', 'await close();'],
    ['is flushed before a crash', 'flush(); process.exit();'],
  ])('ends when the log %s', async (_, end) => {
    // A write may be under way, with more behind it.
    const entries = `${megabyte} await new Promise((resolve) => setTimeout(resolve, 50)); ${megabyte}`;
    const child = unread(logging(entries, end));
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
