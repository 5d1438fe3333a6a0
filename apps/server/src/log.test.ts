import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatCredential } from '@latchkey/schema';
import pino from 'pino';
import { afterAll, describe, expect, test } from 'vitest';
import { redactor } from './log.ts';

const ID = '0193aa00-0000-7000-8000-000000000001';
const credentials = (['applicationSecret', 'code', 'grantSecret'] as const).map((kind) =>
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
    const { log, close, flush } = createLog({ logLevel: 'info', adminSecret: null, databaseUrl: '' });
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

test('goes on where whoever reads the log does not', async () => {
  const megabyte = `for (let n = 0; n < 1000; n++) log.info('x'.repeat(1000));`;
  const child = spawn(
    process.execPath,
    logging(megabyte, `setTimeout(() => process.stdout.write('goes on'), 50);`),
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const [said] = await once(child.stdout, 'data');
  expect(String(said)).toBe('goes on');
  child.kill('SIGKILL');
});
