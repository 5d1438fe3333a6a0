// Makes what is generated and committed: all of it, or the files whose path contains one of the words.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generated, partly, statementTables } from '../tests/support/generated/files.ts';
import { staleFiles } from '../tests/support/generated/stale.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const isAsked = (path: string) => words.length === 0 || words.some((word) => path.includes(word));

const makers = Object.entries({ ...generated, ...partly }).filter(([path]) => isAsked(path));
const tables = Object.entries(statementTables).filter(([path]) => isAsked(path));
if (makers.length + tables.length === 0) {
  process.stderr.write(`Nothing that is generated has ${words.join(' or ')} in its path.\n`);
  process.exit(2);
}
for (const [path, make] of makers) {
  try {
    const content = await make();
    if ((await staleFiles(root, new Map([[path, content]]))).length === 0) continue;
    await writeFile(join(root, path), content);
    process.stdout.write(`${path}\n`);
  } catch (error) {
    process.stderr.write(`${path}: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  }
}
if (tables.length > 0) {
  const words = ['run', ...tables.map(([, test]) => test), '--update'];
  const { status } = spawnSync('vitest', words, {
    cwd: root,
    env: { ...process.env, TEST_ALL: '1' },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exitCode = status ?? 1;
}
