#!/usr/bin/env node
// Packs built packages, as a registry would have them, for a project outside of this repository:
// the SDK, and with `--testing` also the test server and what it is made of. Prints where each is,
// a line for one. `npm run pack` builds them first.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { testing: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(positionals[0] ?? join(root, 'dist'));
const manifest = (path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));

mkdirSync(folder, { recursive: true });

function pack(path) {
  const words = ['--yes', manifest('.').packageManager, 'pack', '--pack-destination', folder];
  const options = { cwd: join(root, path), shell: process.platform === 'win32' };
  const { status, stdout, stderr } = spawnSync('npx', words, options);
  if (status !== 0) {
    process.stderr.write(Buffer.concat([stdout, stderr]));
    process.exit(1);
  }
  const { name, version } = manifest(path);
  const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
  process.stdout.write(`${join(folder, tarball)}\n`);
}

pack('packages/client');
if (values.testing) {
  for (const path of ['packages/testing', 'packages/schema', 'apps/server']) pack(path);
}
