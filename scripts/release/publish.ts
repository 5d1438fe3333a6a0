#!/usr/bin/env node
// Publishes the tarballs of a folder, made by `npm run release:pack`, to the registry that it is told.
// A version that the registry has is left out, so after a failure the same command continues. It
// needs Node and npm alone: where it runs with the right to publish, nothing is installed.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** Each after those that it depends on. */
const names = [
  '@latchkey/schema',
  '@latchkey/client',
  '@latchkey/server',
  '@latchkey/testing',
  'oauth-race',
];

const { values, positionals } = parseArgs({
  options: { registry: { type: 'string' }, provenance: { type: 'boolean', default: false } },
  allowPositionals: true,
});

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

const { registry } = values;
const [folder] = positionals;
if (folder === undefined || registry === undefined || !URL.canParse(registry)) {
  stop('Say what to publish, and where: npm run release:publish -- FOLDER --registry=URL');
}

const found = readdirSync(folder);
const version = /^latchkey-schema-(.+)\.tgz$/m.exec(found.join('\n'))?.[1];
/** As npm names a tarball. */
const fileNameOf = (name: string) => name.replace('@', '').replace('/', '-');
const files = names.flatMap((name) =>
  ['tgz', 'cdx.json'].map((kind) => `${fileNameOf(name)}-${version}.${kind}`),
);
if (found.sort().join() !== files.toSorted().join()) {
  stop(
    `${folder} must hold the tarballs and bills of materials of one version and nothing else. It holds: ${found}`,
  );
}

// For a scope, npm may be set to a registry of its own, which would win over `--registry`.
const where = [`--registry=${registry}`, `--@latchkey:registry=${registry}`];
// `npm run -s` would silence the errors too.
const flags = [...where, '--loglevel=error'];
const npm = (words: string[], stdio: 'inherit' | 'pipe') =>
  execFileSync('npm', [...words, ...flags], {
    // A person may be asked for a one-time password.
    stdio: [stdio === 'inherit' ? 'inherit' : 'ignore', stdio, stdio],
  });

function isPublished(name: string): boolean {
  try {
    return String(npm(['view', `${name}@${version}`, 'version'], 'pipe')).trim() === version;
  } catch (error) {
    const output = String((error as { stderr?: Buffer }).stderr);
    if (/E404/.test(output)) return false;
    throw new Error(`The registry can't say whether it has ${name}: ${output}`);
  }
}

for (const name of names) {
  if (isPublished(name)) {
    process.stdout.write(`${name} ${version} is published already\n`);
    continue;
  }
  const provenance = values.provenance ? ['--provenance'] : [];
  npm(
    [
      'publish',
      resolve(folder, `${fileNameOf(name)}-${version}.tgz`),
      '--access=public',
      ...provenance,
    ],
    'inherit',
  );
  process.stdout.write(`${name} ${version} is published\n`);
}
