import { closeSync, openSync } from 'node:fs';
import { DomainError } from '@latchkey/domain/domain-error';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { LogSink } from '../log/log-sink.ts';
import { type AuditedCall, createAudit, createAuditLines } from './audit.ts';
import type { NewCommandChange } from './command-changes.ts';

const call: AuditedCall = {
  action: 'grants.revoke',
  by: 'operator',
  ids: {},
  admin_secret: 'current',
  changes: true,
  request_id: 'of-a-test',
  address: null,
};

function linesAt(
  level: string,
  members: Partial<AuditedCall> = {},
  kept: NewCommandChange[] = [],
): string[] {
  const lines: string[] = [];
  const log = pino({ level }, { write: (line) => void lines.push(line) });
  const changes = { keep: (change: NewCommandChange) => void kept.push(change), async flush() {} };
  const audit = createAudit(createAuditLines(log), { keep: () => true, async flush() {} }, changes);
  audit.done({ ...call, ...members });
  audit.refused({ ...call, ...members }, new DomainError('grant_not_found'), true);
  return lines.map((line) => JSON.parse(line).result);
}

test.each(['trace', 'info', 'warn', 'error', 'fatal'])(
  'the audit is written at level %s',
  (level) => {
    expect(linesAt(level)).toEqual(['done', 'grant_not_found']);
  },
);

test.each([
  ['a change', true, undefined, true],
  ['a change of unknown outcome', true, 'outcome_unknown', true],
  ['a change that was refused', true, 'grant_not_found', false],
  ['a page view', false, undefined, false],
] as const)('the line of %s says so to the log', (_, changes, error, expected) => {
  const written: object[] = [];
  const lines = { write: (_members: object, isOfChange?: boolean) => written.push({ isOfChange }) };
  const keeper = { keep: () => true, async flush() {} };
  const audit = createAudit(lines, keeper, { keep() {}, async flush() {} });
  if (error === undefined) audit.done({ ...call, changes });
  else audit.refused({ ...call, changes }, new DomainError(error), true);
  expect(written).toEqual([{ isOfChange: expected }]);
});

test('of the lines that the log has no room for, those of changes are counted', () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const sink = new LogSink({ fd, redact: (lines) => lines, prettify: null, onRecovery() {} });
  onTestFinished(() => sink.close());
  const log = pino({}, sink);
  const lines = createAuditLines(log);
  lines.write({}, false);
  expect(lines.count()).toBe(1);
  while (sink.dropped === 0) log.info('x'.repeat(1_000));
  lines.write({}, false);
  expect(lines.count()).toBe(1);
  let written = 1;
  for (; sink.dropped === 2; written++) lines.write({ text: 'x'.repeat(1_000) });
  expect(lines.count()).toBe(written);
});

test('the audit is not written at level silent', () => {
  expect(linesAt('silent')).toEqual([]);
});

test('what the command line changes is kept for the log of a service', () => {
  const kept: NewCommandChange[] = [];
  const ids = { grant_id: '0193aa00-0000-7000-8000-000000000001' };
  expect(linesAt('info', { by: 'command_line', os_user: 'ada', ids }, kept)).toEqual([]);
  expect(kept).toEqual([
    { operation: 'grants.revoke', os_user: 'ada', request_id: 'of-a-test', ids },
  ]);
});
