import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describeOnPostgresql } from '@latchkey/test-kit/postgresql/describe';
import { query } from '@latchkey/test-kit/postgresql/query';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresqlTarget } from '../../src/transfer.ts';
import { newDatabaseOn } from '../postgresql-harness.ts';

const script = fileURLToPath(new URL('./stopped-process.ts', import.meta.url));
const OPERATION_MS = 500;

describeOnPostgresql('a process that is stopped in a transaction', (server) => {
  test('soon holds no record', async () => {
    const url = await newDatabaseOn(server);
    const target = await openPostgresqlTarget(url);
    await target.replace(null, { id: 'sound', is: 'used' });
    await target.close();
    const stopped = spawn(process.execPath, [script], {
      env: { ...process.env, DATABASE_URL: url, OPERATION_MS: `${OPERATION_MS}` },
    });
    onTestFinished(() => void stopped.kill('SIGKILL'));
    await once(stopped.stdout, 'data');
    await query(url, "SET lock_timeout = '20 s'; UPDATE use_mark SET mark = mark || ' still'");
    const [found] = await query(url, 'SELECT mark FROM use_mark');
    expect(found?.mark).toMatch(/sound.* still$/);
  });
});
