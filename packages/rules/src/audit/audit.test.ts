import { DomainError } from '@latchkey/domain/domain-error';
import pino from 'pino';
import { expect, test } from 'vitest';
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

// Regression: strangers had numbers for what the log may lose, so a restore refused its gaps.
test('what changes has a number, and nothing else', () => {
  const lines: { line?: number }[] = [];
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
  const changes = { keep() {}, async flush() {} };
  const written = createAuditLines(log);
  const audit = createAudit(written, { keep: () => true, async flush() {} }, changes);
  audit.done(call);
  audit.done({ ...call, changes: false });
  audit.refused(call, new DomainError('grant_not_found'), true);
  audit.refused(call, new DomainError('outcome_unknown'), true);
  expect(lines.map(({ line }) => line)).toEqual([1, undefined, undefined, 2]);
  expect(written.count()).toBe(2);
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
