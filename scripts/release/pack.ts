#!/usr/bin/env node
// Packs the public packages for a release, in the versions of their manifests, into the folder that
// it is told, with a bill of materials for each. `npm run release:pack` builds them first.
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packagesToPack } from '../packages-to-pack.mjs';
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

for (const path of packagesToPack(options).packages) {
  const bill = billOfRelease(path);
  const { component } = bill.metadata;
  // As npm names the tarball.
  const name = nameOf(component).replace('@', '').replace('/', '-');
  const file = join(folder, `${name}-${component.version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  process.stdout.write(`${file}\n`);
}
