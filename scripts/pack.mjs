#!/usr/bin/env node
// Packs the built SDK, as a registry would have it, for a project outside of this repository; prints
// where the package is. `npm run pack` builds it first.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? join(root, 'dist'));
const manifest = (path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
const { version } = manifest('packages/client');

mkdirSync(folder, { recursive: true });
const words = ['--yes', manifest('.').packageManager, 'pack', '--pack-destination', folder];
const cwd = join(root, 'packages/client');
const options = { cwd, shell: process.platform === 'win32' };
const { status, stdout, stderr } = spawnSync('npx', words, options);
if (status !== 0) {
  process.stderr.write(Buffer.concat([stdout, stderr]));
  process.exit(1);
}
process.stdout.write(`${join(folder, `latchkey-client-${version}.tgz`)}\n`);
