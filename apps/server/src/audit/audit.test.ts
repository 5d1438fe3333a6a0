import pino from 'pino';
import { expect, test } from 'vitest';
import { DomainError } from '../domain-error.ts';
import { type AuditedCall, createAudit } from './audit.ts';

const call: AuditedCall = {
  action: 'grants.revoke',
  by: 'operator',
  ids: {},
  admin_secret: 'current',
  request_id: 'of-a-test',
  address: null,
};

function linesAt(level: string, members: Partial<AuditedCall> = {}): string[] {
  const lines: string[] = [];
  const log = pino({ level }, { write: (line) => void lines.push(line) });
  const audit = createAudit(log, { keep() {}, async flush() {} });
  audit.done({ ...call, ...members });
  audit.refused({ ...call, ...members }, new DomainError('grant_not_found'));
  return lines.map((line) => JSON.parse(line).result);
}

test.each(['trace', 'info', 'warn', 'error', 'fatal'])(
  'the audit is written at level %s',
  (level) => {
    expect(linesAt(level)).toEqual(['done', 'grant_not_found']);
  },
);

test('the audit is not written at level silent, nor for the command line', () => {
  expect(linesAt('silent')).toEqual([]);
  expect(linesAt('info', { by: 'command_line' })).toEqual([]);
});
