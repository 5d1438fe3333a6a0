import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { INSTALL_TIMEOUT_MS } from '@latchkey/test-kit/tools-from-lockfile';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_SECRET } from './support/operator.ts';
import { installPackedSchema } from './support/packed-sdk.ts';
import {
  type Environment,
  environment,
  type ServiceProcess,
  startService,
  succeed,
} from './support/service.ts';

// The packed schema with both ends of the range of tRPC that it names, and without tRPC, compiled
// with the versions of TypeScript that users have, and run against the service.

/** By the names that they are installed under. */
const compilers = {
  ts59: 'npm:typescript@5.9.3',
  ts60: 'npm:typescript@6.0.3',
  ts70: 'npm:typescript@7.0.2',
};

const schemaPackage = new URL('../packages/schema/', import.meta.url);
const manifestAt = async (path: string) =>
  JSON.parse(await readFile(new URL(path, schemaPackage), 'utf8'));

const oldest = '11.4.0';
/** The one that the service is built with. */
const { version: newest } = await manifestAt('node_modules/@trpc/server/package.json');

/** Has the compilers; the projects are folders in it. */
let folder: string;
let service: ServiceProcess;

/** Makes a project with the packed schema; each program both as ESM and as CommonJS. */
async function project(name: string, trpc: string | null, program: string): Promise<void> {
  const place = join(folder, name);
  await mkdir(place);
  const consumer = join(import.meta.dirname, 'support/trpc-consumer');
  for (const file of await readdir(consumer)) {
    if (file.endsWith('.json')) await cp(join(consumer, file), join(place, file));
  }
  for (const extension of ['ts', 'mts', 'cts']) {
    await cp(join(consumer, program), join(place, `program.${extension}`));
  }
  const packages = trpc === null ? {} : { '@trpc/client': trpc, '@trpc/server': trpc };
  await installPackedSchema(place, packages);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'latchkey-trpc-'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ devDependencies: compilers }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  // npm is to find its settings.
  const env = process.env as Environment;
  await succeed('npm', ['install', ...flags], { cwd: folder, env });
  await project('oldest', oldest, 'program.ts');
  await project('newest', newest, 'program.ts');
  await project('without', null, 'without-trpc.ts');
  service = await startService({ cwd: folder, env: environment({ ADMIN_SECRET }) });
}, INSTALL_TIMEOUT_MS);

afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

it('asks for the range of tRPC that is tested, and only of those who use it', async () => {
  const manifest = await manifestAt('package.json');
  expect(manifest.peerDependencies).toEqual({ '@trpc/server': `^${oldest}` });
  expect(manifest.peerDependenciesMeta).toEqual({ '@trpc/server': { optional: true } });
  expect(Object.keys(manifest.dependencies)).toEqual(['zod']);
  expect(newest).toMatch(/^11\./);
  expect(existsSync(join(folder, 'without/node_modules/@trpc'))).toBe(false);
});

it('has tRPC in its types alone', async () => {
  const dist = join(folder, 'newest/node_modules/@latchkey/schema/dist');
  const withTrpc: string[] = [];
  for (const name of await readdir(dist)) {
    if ((await readFile(join(dist, name), 'utf8')).includes('@trpc/')) withTrpc.push(name);
  }
  expect(withTrpc.sort()).toEqual(['trpc.d.cts', 'trpc.d.ts']);
});

/** What the program prints, by project: the oldest tRPC, the newest, and none. */
const seen = {
  username: 'ada',
  listed: true,
  refused: ['parameter_invalid', 'body_malformed', 'code_already_used'],
  named: true,
  status: 400,
  wrong: false,
  revoked: true,
};
const printed = { oldest: [seen, seen], newest: [seen, seen], without: [true, false, 400] };

// The oldest and the newest compiler read the types with each tRPC. The one between them reads the same
// types, so one tRPC is enough for it.
const between = { newest: printed.newest };

describe.each(Object.keys(compilers))('with %s', (alias) => {
  const projects = alias === 'ts60' ? between : printed;
  const compile = (name: string, config: string, ...more: string[]) => {
    const tsc = join(folder, 'node_modules', alias, 'bin/tsc');
    const words = [tsc, '-p', `tsconfig.${config}.json`, ...more];
    return succeed(process.execPath, words, { cwd: join(folder, name), env: environment() });
  };

  it.each(Object.entries(projects))(
    'compiles for Node as ESM and as CommonJS, and runs as both: %s',
    async (name, expected) => {
      await compile(name, 'nodenext', '--outDir', `out-${alias}`);
      const env = environment({ LATCHKEY_URL: service.url, ADMIN_SECRET });
      for (const program of ['program.mjs', 'program.cjs']) {
        const words = [join(`out-${alias}`, program)];
        const text = await succeed(process.execPath, words, { cwd: join(folder, name), env });
        expect(JSON.parse(text)).toEqual(expected);
      }
    },
  );

  if (projects === between) return;
  it('compiles for a bundler', async () => {
    await compile('newest', 'bundler');
  });
});
