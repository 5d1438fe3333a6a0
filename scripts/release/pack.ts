#!/usr/bin/env node
// Packs the public packages for a release, in the versions of their manifests, into the folder that
// it is told, with a bill of materials for each. `npm run release:pack` builds them first.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesToPack } from '../packages-to-pack.mjs';
import { findPnpm } from '../pnpm.mjs';
import { billOfRelease, nameOf } from './bill-of-materials.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || more.length > 0) {
  stop('Say where to put the tarballs: npm run release:pack -- FOLDER');
}

const pending = readdirSync(join(root, '.changeset')).filter(
  (file) => file.endsWith('.md') && file !== 'README.md',
);
if (pending.length > 0) {
  stop('There are changesets that no version contains. Run npm run release:version, and commit.');
}
const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root }).toString();
if (changed !== '') stop(`Commit first what is not committed:\n${changed}`);

const pack = join(root, 'scripts', 'pack.mjs');
const options = ['--release', folder];
execFileSync(process.execPath, [pack, ...options], { cwd: root, stdio: 'inherit' });

/** Puts the dependencies, in the versions of the lockfile, into a tarball: decision 63 says why. */
function addDependencies(name: string, tarball: string): void {
  const work = mkdtempSync(join(tmpdir(), 'latchkey-release-'));
  const run = (command: string, words: string[], cwd: string) =>
    execFileSync(command, words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    run('tar', ['-xzf', tarball, '-C', work], root);
    const [packed, deployed] = [join(work, 'package'), join(work, 'deployed')];
    const { command, args } = findPnpm();
    // As npm lays them out: without links, which a tarball can't have.
    const layout = ['--prod', '--legacy', '--config.node-linker=hoisted'];
    run(command, [...args, `--filter=${name}`, 'deploy', ...layout, deployed], root);
    const modules = join(deployed, 'node_modules');
    // The schema is published beside it.
    rmSync(join(modules, '@latchkey'), { recursive: true });
    cpSync(modules, join(packed, 'node_modules'), { recursive: true });
    const manifest = join(packed, 'package.json');
    const content = JSON.parse(readFileSync(manifest, 'utf8'));
    const bundleDependencies = Object.keys(content.dependencies).filter(
      (each) => !each.startsWith('@latchkey/'),
    );
    writeFileSync(manifest, JSON.stringify({ ...content, bundleDependencies }, null, 2));
    run('npm', ['pack', '--ignore-scripts', '--loglevel=error'], packed);
    const [made = ''] = readdirSync(packed).filter((file) => file.endsWith('.tgz'));
    cpSync(join(packed, made), tarball);
  } finally {
    rmSync(work, { recursive: true });
  }
}

for (const path of packagesToPack(options).packages) {
  const bill = billOfRelease(path);
  const { component } = bill.metadata;
  const name = nameOf(component);
  // As npm names the tarball.
  const stem = join(folder, `${name.replace('@', '').replace('/', '-')}-${component.version}`);
  if (path === 'apps/server') addDependencies(name, `${stem}.tgz`);
  const file = `${stem}.cdx.json`;
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  process.stdout.write(`${file}\n`);
}
