import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDatabase, dropDatabase } from '@latchkey/test-kit/postgresql/test-databases';
import { expect, inject, onTestFinished, test } from 'vitest';
import { codeBlocks } from './support/markdown.ts';
import { ADMIN_SECRET, operator } from './support/operator.ts';
import { environment, latchkey, script, startService, succeed } from './support/service.ts';

// The chapter "Move to another database" of docs/operations/upgrade-and-restore.md, followed step by step.

const page = new URL('../docs/operations/upgrade-and-restore.md', import.meta.url);
const copies = codeBlocks(await readFile(page, 'utf8')).filter(({ code }) =>
  code.includes('latchkey copy '),
);
const [FROM, TO] = ['file:./data/latchkey.db', /postgresql:\/\/[^'\s]*/];

const server = inject('postgresqlUrl');

const notRun = server ? '' : ' (not run: there is no PostgreSQL)';

test.runIf(server)(
  `nothing that was revoked or changed is lost on the way to PostgreSQL${notRun}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'latchkey-move-'));
    const to = await createDatabase(server as string);
    onTestFinished(async () => {
      await dropDatabase(to);
      await rm(folder, { recursive: true });
    });
    const settings = (url: string) => environment({ ADMIN_SECRET, DATABASE_URL: url });
    const start = async (url: string) => {
      const service = await startService({ cwd: folder, env: settings(url) });
      onTestFinished(() => service.kill());
      return service;
    };
    const follow = (code: string) =>
      succeed(
        'bash',
        [
          '-euo',
          'pipefail',
          '-c',
          `latchkey() { node '${script}' "$@"; }; ${code.replace(TO, to)}`,
        ],
        { cwd: folder, env: environment() },
      );
    expect(copies).toHaveLength(2);
    const [while_it_runs = '', at_last = ''] = copies.map(({ code }) => code.replace(/^ +/gm, ''));

    const before = await start(FROM);
    const { id } = await operator<{ id: string }>(before, 'POST', '/applications', {
      name: 'Acme',
    });
    await follow(while_it_runs);
    await operator(before, 'POST', `/applications/${id}/disable`);
    await before.stop();
    await follow(at_last);

    const { exitCode, stderr } = await latchkey(['serve'], { cwd: folder, env: settings(FROM) });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 78,
      stderr: expect.stringContaining(new URL(to).pathname.slice(1)),
    });
    const after = await start(to);
    const found = await operator(after, 'GET', `/applications/${id}`);
    expect(found).toMatchObject({ name: 'Acme', disabled: true });
  },
);
