#!/usr/bin/env node
// Checks a package as its users will get it: pnpm packs it, so that `publishConfig` is applied, then
// publint and are-the-types-wrong check the tarball. Run it in the package's folder; further arguments
// go to attw.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

function run(command, ...args) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${args[0]} found a problem.`);
}

const folder = mkdtempSync(join(tmpdir(), 'latchkey-package-'));
try {
  run('pnpm', 'pack', '--pack-destination', folder);
  const [tarball] = readdirSync(folder);
  run('publint', '--strict', join(folder, tarball));
  run('attw', '--no-emoji', ...process.argv.slice(2), join(folder, tarball));
} finally {
  rmSync(folder, { recursive: true });
}
