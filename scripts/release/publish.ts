#!/usr/bin/env node
// Publishes the public packages in the versions of their manifests, to the registry that it is told.
// `npm run release:publish` builds them first. A version that the registry has is left out, so after
// a failure the same command continues.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Each after those that it depends on. */
const folders = ['packages/schema', 'packages/client', 'apps/server', 'packages/testing'];

interface Manifest {
  name: string;
  version: string;
}

const { values } = parseArgs({
  options: { registry: { type: 'string' }, provenance: { type: 'boolean', default: false } },
});

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const { registry } = values;
if (registry === undefined || !URL.canParse(registry)) {
  stop('Say where to publish: npm run release:publish -- --registry URL');
}

const pending = readdirSync(join(root, '.changeset')).filter(
  (file) => file.endsWith('.md') && file !== 'README.md',
);
if (pending.length > 0) {
  stop('There are changesets that no version contains. Run npm run release:version, and commit.');
}
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root }).toString();
if (changed !== '') stop(`Commit first what is not committed:\n${changed}`);

// For a scope, npm may be set to a registry of its own, which would win over `--registry`.
const where = [`--registry=${registry}`, `--@latchkey:registry=${registry}`];
// `npm run -s` would silence the errors too.
const flags = [...where, '--loglevel=error'];
const npm = (words: string[], stdio: 'inherit' | 'pipe') =>
  execFileSync('npm', [...words, ...flags], {
    cwd: root,
    // A person may be asked for a one-time password.
    stdio: [stdio === 'inherit' ? 'inherit' : 'ignore', stdio, stdio],
  });

function isPublished({ name, version }: Manifest): boolean {
  try {
    const found = npm(['view', `${name}@${version}`, 'version'], 'pipe');
    return String(found).trim() === version;
  } catch (error) {
    const output = String((error as { stderr?: Buffer }).stderr);
    if (/E404/.test(output)) return false;
    throw new Error(`The registry can't say whether it has ${name}: ${output}`);
  }
}

const tarballs = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
try {
  const pack = join(root, 'scripts', 'pack.mjs');
  execFileSync(process.execPath, [pack, '--testing', tarballs], { cwd: root, stdio: 'pipe' });
  for (const folder of folders) {
    const manifest: Manifest = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
    const { name, version } = manifest;
    if (isPublished(manifest)) {
      process.stdout.write(`${name} ${version} is published already\n`);
      continue;
    }
    const tarball = join(tarballs, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
    const provenance = values.provenance ? ['--provenance'] : [];
    npm(['publish', tarball, '--access=public', ...provenance], 'inherit');
    process.stdout.write(`${name} ${version} is published\n`);
  }
} finally {
  rmSync(tarballs, { recursive: true });
}
