import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const root = new URL('../../../../', import.meta.url);
const script = fileURLToPath(new URL('apps/server/src/cli/latchkey.ts', root));

/** Prints the URL of each module that is loaded, in a line of stderr. */
const hook = `
  import { registerHooks } from 'node:module';
  import { writeSync } from 'node:fs';
  registerHooks({
    load(url, context, next) {
      if (url.startsWith('file:')) writeSync(2, url + '\\n');
      return next(url, context);
    },
  });`;

const preload = `data:text/javascript,${encodeURIComponent(hook)}`;

/** The modules that a command loads: files by their path in the repository, packages by their name. */
async function loadedBy(
  words: readonly string[],
  environment: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const args = ['--import', preload, script, ...words];
  const { stderr } = await promisify(execFile)(process.execPath, args, { env: environment });
  return modulesIn(stderr);
}

function modulesIn(stderr: string): string[] {
  const modules = stderr.match(/^file:.*$/gm) ?? [];
  return [...new Set(modules.map(nameOf))].toSorted();
}

function nameOf(url: string): string {
  const [, dependency] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  return dependency ?? url.slice(root.href.length);
}

const outsideOfCli = (name: string) => !name.startsWith('apps/server/src/cli/');

describe('what only prints loads nothing of what commands run', () => {
  test.each([[['--version']], [['--help']]])('%j', async (words) => {
    const loaded = await loadedBy(words);
    expect(loaded.filter(outsideOfCli)).toEqual([
      'apps/server/package.json',
      'apps/server/src/supported-node.ts',
      'commander',
    ]);
  });
});

test('the help of an operation loads its contract, and nothing that runs it', async () => {
  const loaded = await loadedBy(['app', 'create', '--help']);
  expect(loaded).toContain('packages/schema/src/operations.ts');
  const ofContract = (name: string) => name.startsWith('packages/schema/');
  expect(loaded.filter((name) => outsideOfCli(name) && !ofContract(name))).toEqual([
    'apps/server/package.json',
    'apps/server/src/supported-node.ts',
    'commander',
    'packages/domain/src/decode-json.ts',
    'packages/domain/src/domain-error.ts',
    'packages/domain/src/reasons.ts',
    'zod',
  ]);
});

test('a command loads no other command', async () => {
  const loaded = await loadedBy(['app', 'list', '--help']);
  const commands = loaded.filter((name) => /-commands?\.ts$/.test(name));
  expect(commands).toEqual(['apps/server/src/cli/operation-commands.ts']);
});

test('a command on SQLite loads neither the HTTP server nor another store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-'));
  try {
    const loaded = await loadedBy(['app', 'create', 'Acme'], {
      DATABASE_URL: `file:${join(folder, 'a.db')}`,
    });
    expect(loaded).toContain('packages/store-sqlite/src/sqlite-store.ts');
    const ofServe =
      /^apps\/server\/src\/(http|openapi|metrics|tracing)\/|^packages\/store-(mongodb|postgresql)\/|^(mongodb|pg)$/;
    // They say which URLs are their own.
    expect(new Set(loaded.filter((name) => ofServe.test(name)))).toEqual(
      new Set([
        'packages/store-mongodb/src/driver.ts',
        'packages/store-postgresql/src/driver.ts',
        'packages/store-postgresql/src/address.ts',
      ]),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
