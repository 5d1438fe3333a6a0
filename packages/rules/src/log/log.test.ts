import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CredentialKind, credentialPrefixes, formatCredential } from '@latchkey/schema';
import pino from 'pino';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { redactorFor } from './redactor.ts';
import { LINE_BYTES, shortenLines } from './shorten-lines.ts';

const ID = '0193aa00-0000-7000-8000-000000000001';
const credentials = (Object.keys(credentialPrefixes) as CredentialKind[]).map((kind) =>
  formatCredential(kind, ID, new Uint8Array(32).fill(7)),
);

/** What is written of a log object. */
function written(secrets: string[], entry: object, message: string): string {
  const lines: string[] = [];
  const redact = redactorFor(new Set(secrets));
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
  expect(redactorFor(new Set(['secret']))(line)).toBe(line);
});

test('a text from outside begins no line', () => {
  const text = written([], { hint: 'a\n{"msg":"audit"}\r\n', err: new Error('b\nc') }, 'd\ne');
  expect(text.match(/[\r\n]/g)).toEqual(['\n']);
});

/** A program that logs to its stderr and then does as told. */
function logging(entries: string, then: string): string[] {
  const module = new URL('log.ts', import.meta.url);
  const program = `
    import { createLog } from '${module}';
    const { log, close, flush } = createLog({ level: 'info', secrets: new Set() });
    ${entries}
    ${then}`;
  return ['--input-type=module', '-e', program];
}

test('a terminal gets text, without the lines that only programs read', ({ skip }) => {
  skip(
    spawnSync('script', ['--version']).status !== 0,
    'not run: the command script is not installed',
  );
  const entries = `
    log.info({ url: 'http://127.0.0.1' }, 'listening');
    log.info({ number: 1, event: 'minute' }, 'log number');
    log.info({ reason: 'log number' }, 'closing');`;
  const [type, , program = ''] = logging(entries, 'await close();');
  const { stdout } = spawnSync('script', ['-qec', '"$NODE" "$TYPE" -e "$PROGRAM"', '/dev/null'], {
    env: { ...process.env, NODE: process.execPath, TYPE: type, PROGRAM: program, NO_COLOR: '1' },
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^\[[\d:.]+\] INFO: closing\r\n {4}reason: "log number"\r\n$/);
});

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

const line = (members: object) =>
  `${JSON.stringify({ level: 50, time: '2026-11-21T02:15:30.123Z', ...members, msg: 'failed' })}\n`;

const longAsAllowed = () => {
  const short = line({ request_id: 'r', text: '' });
  return line({ request_id: 'r', text: 'x'.repeat(LINE_BYTES - short.length) });
};

const tooLong = {
  'a stack': { err: { type: 'Error', message: 'no', stack: 'at f (a.ts:1:1)\n'.repeat(10_000) } },
  'one byte too much': { request_id: 'r', text: `x${JSON.parse(longAsAllowed()).text}` },
  'characters of three bytes': { text: '\u20ac'.repeat(LINE_BYTES / 3) },
  'characters that are cut in two': { text: `x${'\u{1f600}'.repeat(2_000)}` },
  'what JSON escapes': { text: '\u0001'.repeat(LINE_BYTES) },
  'many members': Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`member-${n}`, n])),
  'many items': { calls: Array(5_000).fill({ status: 200, grant_id: 'x'.repeat(36) }) },
  'long names': { err: { ['x'.repeat(10_000)]: 1, ['y'.repeat(10_000)]: 2 } },
  depth: JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`),
};

test.each(Object.entries(tooLong))('shortens a line with %s to one whole object', (_, members) => {
  const text = shortenLines(line({ request_id: 'the-request', ...members }));
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LINE_BYTES);
  expect(text.endsWith('}\n')).toBe(true);
  const { request_id = 'the-request' } = members as { request_id?: string };
  expect(JSON.parse(text)).toMatchObject({ level: 50, request_id, msg: 'failed', truncated: true });
  expect(text).not.toMatch(/\\ud[89a-f]/);
});

test('keeps the start of what it shortens', () => {
  const { err } = JSON.parse(shortenLines(line(tooLong['a stack'])));
  expect(err).toMatchObject({ type: 'Error', message: 'no' });
  expect(err.stack.startsWith('at f (a.ts:1:1)\nat f')).toBe(true);
});

test('shortens no other line, and keeps their order', () => {
  const lines = [line({ n: 1 }), longAsAllowed(), line({ n: 2 })];
  expect(shortenLines(lines.join(''))).toBe(lines.join(''));
  const [before, after] = [lines.join(''), line({ n: 3 })];
  const text = shortenLines(before + line(tooLong['a stack']) + after);
  expect(text.startsWith(before)).toBe(true);
  expect(text.endsWith(`"truncated":true}\n${after}`)).toBe(true);
});
