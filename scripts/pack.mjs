#!/usr/bin/env node
// Packs built packages as a registry would have them, for use in another project. Prints the path of
// each tarball, one a line. `npm run pack` builds them first.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesToPack } from './packages-to-pack.mjs';
import { findPnpm } from './pnpm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const asked = packagesToPack(process.argv.slice(2));
const folder = resolve(asked.folder ?? join(root, 'dist'));
const manifest = (path) => JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));

// pnpm would pack the folder without what its manifest names.
const missing = asked.packages.flatMap((path) =>
  filesNamedIn(manifest(path).publishConfig)
    .map((file) => join(path, file))
    .filter((file) => !existsSync(join(root, file))),
);
if (missing.length > 0) {
  process.stderr.write(`${missing[0]} is not built. Run: npm run build\n`);
  process.exit(1);
}

function filesNamedIn(value) {
  if (typeof value === 'string') return value.startsWith('./dist/') ? [value] : [];
  return Object.values(value ?? {}).flatMap(filesNamedIn);
}

const pnpm = findPnpm();

mkdirSync(folder, { recursive: true });

function pack(path) {
  const words = [...pnpm.args, 'pack', '--pack-destination', folder];
  const options = { cwd: join(root, path), shell: process.platform === 'win32' };
  const { status, stdout, stderr } = spawnSync(pnpm.command, words, options);
  if (status !== 0) {
    process.stderr.write(Buffer.concat([stdout, stderr]));
    process.exit(1);
  }
  const { name, version } = manifest(path);
  const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
  process.stdout.write(`${join(folder, tarball)}\n`);
}

for (const path of asked.packages) pack(path);
