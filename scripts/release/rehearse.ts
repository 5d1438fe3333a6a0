#!/usr/bin/env node
// A release, without one: in a copy of the tree it does what docs/releasing.md says, publishes to a
// registry on this machine, and then uses the packages as their users will. `npm run
// release:rehearse` runs it.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { cp, glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { installFromLockfile } from '../../packages/test-kit/src/tools-from-lockfile.ts';
import { Browser } from '../../tests/clients/browser.ts';
import {
  connectAda,
  freePort,
  PORT_OF_PAGES,
  startLinkingProgram,
} from '../../tests/support/linking-program.ts';
import { codeBlocks } from '../../tests/support/markdown.ts';
import { type BillOfMaterials, nameOf } from './bill-of-materials.ts';
import { startRegistry } from './registry.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folders = [
  'packages/client',
  'packages/schema',
  'packages/testing',
  'packages/race',
  'apps/server',
];

/** Longer than any command takes on a slow machine. */
const COMMAND_TIMEOUT_MS = 1_800_000;

type Environment = NodeJS.ProcessEnv;

/** Runs a command to its end; returns what it prints. */
function run(command: string, words: string[], cwd: string, env: Environment): string {
  const options = { cwd, env, encoding: 'utf8', timeout: COMMAND_TIMEOUT_MS } as const;
  const { status, error, stdout, stderr } = spawnSync(command, words, options);
  if (status === 0) return stdout;
  throw new Error(`${command} ${words.join(' ')} failed.\n${error ?? ''}${stdout}${stderr}`);
}

function check(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

async function step<T>(name: string, action: () => T | Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await action();
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  process.stdout.write(`${seconds.padStart(6)} s  ${name}\n`);
  return result;
}

const manifestIn = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));

/** With another Node than ours. */
const withNode = (env: Environment, node: string): Environment => ({
  ...env,
  PATH: `${dirname(node)}${delimiter}${env.PATH}`,
});

/** Copies what Git has or would have of the tree, and commits it: a release begins with a clean tree. */
async function copyTree(copy: string): Promise<void> {
  const listed = run('git', ['ls-files', '-z', '-co', '--exclude-standard'], root, process.env);
  for (const path of listed.split('\0').filter(Boolean)) {
    // A deleted file is listed until the deletion is committed.
    await cp(join(root, path), join(copy, path)).catch((error) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
  run('git', ['init', '--quiet'], copy, process.env);
  commit(copy, 'The tree');
}

function commit(copy: string, message: string): void {
  run('git', ['add', '--all'], copy, process.env);
  const author = ['-c', 'user.name=Rehearsal', '-c', 'user.email=rehearsal@localhost'];
  const words = [...author, '-c', 'commit.gpgsign=false', 'commit', '--quiet', '-m', message];
  run('git', words, copy, process.env);
}

/** Raises the versions, as a maintainer does; returns the new one. */
async function raiseVersions(copy: string): Promise<string> {
  const changesets = join(copy, '.changeset');
  const pending = (await readdir(changesets)).filter((name) => /^(?!README).*\.md$/.test(name));
  // Just after a release.
  if (pending.length === 0) {
    await writeFile(join(changesets, 'a.md'), "---\n'@latchkey/client': patch\n---\n\nNothing.\n");
  }
  const before = (await manifestIn(join(copy, folders[0] as string))).version;
  run('npm', ['run', '-s', 'release:version'], copy, process.env);
  const versions = new Set<string>();
  for (const folder of folders) {
    const { version } = await manifestIn(join(copy, folder));
    versions.add(version);
    const changelog = await readFile(join(copy, folder, 'CHANGELOG.md'), 'utf8');
    check(changelog.includes(`\n## ${version}\n`), `${folder}/CHANGELOG.md lacks ${version}.`);
  }
  const [version, ...others] = versions;
  check(version !== undefined && others.length === 0, 'The packages have several versions.');
  check(version !== before, 'The version was not raised.');
  commit(copy, `Release ${version}`);
  return version;
}

/** Neither by its settings nor by an option can npm reach another registry. */
function checkReach(env: Environment, other: string, cwd: string): void {
  const words = ['ping', '--fetch-retries=0'];
  run('npm', words, cwd, env);
  const { status } = spawnSync('npm', [...words, `--registry=${other}`], { cwd, env });
  check(status !== 0, 'In the rehearsal, npm has reached another registry.');
}

/** A project of a user's: an empty folder in which packages are installed from the registry. */
async function project(folder: string, env: Environment, packages: string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  run('npm', ['install', `--registry=${env.npm_config_registry}`, ...packages], folder, env);
  await checkOrigins(folder, env);
  return folder;
}

/** Every package has to be from our registry, by itself or within another one. */
async function checkOrigins(folder: string, env: Environment): Promise<void> {
  const lockfile = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  type Entry = { resolved?: string; inBundle?: true };
  for (const [path, { resolved, inBundle }] of Object.entries<Entry>(lockfile.packages)) {
    const isOurs = resolved?.startsWith(env.npm_config_registry as string);
    check(
      path === '' || inBundle === true || isOurs === true,
      `${path} was installed from ${resolved}.`,
    );
  }
}

/** Each is valid by the schema of CycloneDX, and names what a bundle contains. */
async function checkBills(tarballs: string, tools: string): Promise<void> {
  const library = createRequire(join(tools, 'nothing.js'))('@cyclonedx/cyclonedx-library');
  const validator = new library.Validation.JsonStrictValidator('1.6');
  const files = (await readdir(tarballs)).filter((name) => name.endsWith('.cdx.json'));
  check(files.length === folders.length, `There are bills of materials: ${files}`);
  for (const file of files) {
    const text = await readFile(join(tarballs, file), 'utf8');
    const problem = await validator.validate(text);
    check(problem === null, `${file} is not valid: ${JSON.stringify(problem)}`);
    const wrong = text.replaceAll('"bom-ref"', '"ref"');
    check((await validator.validate(wrong)) !== null, `${file} is valid whatever it says.`);
    const isServer = file.startsWith('latchkey-server-');
    check(!isServer || text.includes('pkg:npm/swagger-ui-dist@'), `${file} lacks Swagger UI.`);
  }
}

/**
 * Who installs the server gets what the lockfile has, also when newer versions fit: npm fetches no
 * package of others, and the SBOM names what is there.
 */
async function installServer(folder: string, env: Environment, version: string): Promise<void> {
  const storage = join(folder, 'registry/storage');
  const fetched = async () =>
    (await readdir(storage, { recursive: true })).filter(
      (path) => path.endsWith('.tgz') && !path.startsWith('@latchkey'),
    );
  // By the build.
  for (const path of await fetched()) await rm(join(storage, path));
  const prefix = join(folder, 'global');
  const words = [
    'install',
    '--global',
    `--prefix=${prefix}`,
    `--registry=${env.npm_config_registry}`,
  ];
  run('npm', [...words, `@latchkey/server@${version}`], folder, env);
  const others = await fetched();
  check(others.length === 0, `npm has fetched ${others}.`);

  const server = join(prefix, 'lib/node_modules/@latchkey/server');
  const found: string[] = [];
  for await (const path of glob('**/node_modules/{*,@*/*}/package.json', { cwd: server })) {
    const { name, version } = await manifestIn(join(server, dirname(path)));
    // Folders inside of a package have a package.json, too.
    if (version !== undefined) found.push(`${name}@${version}`);
  }
  const bill = join(folder, `tarballs/latchkey-server-${version}.cdx.json`);
  const { components }: BillOfMaterials = JSON.parse(await readFile(bill, 'utf8'));
  const notices = await readFile(join(server, 'dist/THIRD-PARTY-NOTICES.txt'), 'utf8');
  const listed = components
    .filter((each) => !notices.includes(`${nameOf(each)} ${each.version} (`))
    .map((each) => `${nameOf(each)}@${each.version}`);
  check(
    listed.sort().join() === [...new Set(found)].sort().join(),
    `The lockfile has ${listed}.\nInstalled is ${found.sort()}.`,
  );
  run(join(prefix, 'bin/latchkey'), ['--version'], folder, env);
}

interface Service {
  url: string;
  /** A secret and a code that work with each other, new ones each time. */
  demo(): Environment;
  /** The secret of a new application with a callback on this machine. */
  createApplication(): string;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();

/** What a host of the linking flow sets. Nobody is sent to these addresses. */
const hostSettings = {
  ADMIN_SECRET: 'an-admin-secret-of-the-rehearsal',
  SIGN_IN_URL: 'https://host.example/sign-in',
  PUBLIC_URL: 'https://link.example',
};

/**
 * Starts the published server by npx.
 *
 * @param settings - of the server alone. Default: those of a first start
 */
async function startServer(
  folder: string,
  env: Environment,
  version: string,
  settings: Environment = {},
): Promise<Service> {
  await mkdir(folder, { recursive: true });
  const npx = ['--yes', `--registry=${env.npm_config_registry}`, `@latchkey/server@${version}`];
  const options = { cwd: folder, env: { ...env, PORT: '0' } };
  // A group of its own: a signal has to reach the server behind npx.
  const child = spawn('npx', [...npx, 'serve'], {
    cwd: folder,
    env: { ...options.env, ...settings },
    detached: true,
  });
  running.add(child);
  const exited = once(child, 'exit').finally(() => running.delete(child));
  let output = '';
  const url = await new Promise<string>((resolve, reject) => {
    const listen = (chunk: Buffer) => {
      output += chunk;
      const [, listening] = /^Latchkey listens on (\S+),/m.exec(output) ?? [];
      if (listening !== undefined) resolve(listening);
    };
    child.stdout.on('data', listen);
    child.stderr.on('data', listen);
    exited.then(() => reject(new Error(`The server ended before it listened:\n${output}`)));
  });
  return {
    url,
    demo() {
      const printed = run('npx', [...npx, 'demo'], folder, options.env);
      const [secret] = /lk_app_\w+/.exec(printed) ?? [];
      const [code] = /lk_code_\w+/.exec(printed) ?? [];
      check(secret !== undefined && code !== undefined, `The demo has printed: ${printed}`);
      return {
        LATCHKEY_URL: url,
        LATCHKEY_APPLICATION_SECRET: secret,
        LATCHKEY_CODE: code,
      };
    },
    createApplication() {
      const words = ['app', 'create', 'Acme', '--redirect-uri', 'http://127.0.0.1/callback'];
      const printed = run('npx', [...npx, ...words], folder, options.env);
      const [secret] = /^lk_app_\w+$/m.exec(printed) ?? [];
      check(secret !== undefined, `app create has printed: ${printed}`);
      return secret;
    },
    async stop() {
      process.kill(-(child.pid as number), 'SIGTERM');
      await exited;
    },
  };
}

/** The SDK and the schema, as ESM and as CommonJS, with their types. */
async function useSdk(folder: string, env: Environment, version: string, service: Service) {
  const typescript = await manifestIn(join(root, 'node_modules/typescript'));
  const packages = [`@latchkey/client@${version}`, `@latchkey/schema@${version}`];
  await project(folder, env, [...packages, `typescript@${typescript.version}`]);
  await cp(join(root, 'tests/support/consumer'), folder, { recursive: true });
  for (const extension of ['mts', 'cts']) {
    await cp(join(folder, 'program.ts'), join(folder, `program.${extension}`));
  }
  run('npx', ['tsc', '-p', 'tsconfig.nodenext.json'], folder, env);
  for (const program of ['out/program.mjs', 'out/program.cjs']) {
    const { ADMIN_SECRET, PUBLIC_URL } = hostSettings;
    const printed = run('node', [program], folder, {
      ...{ ...env, ...service.demo() },
      ...{ LATCHKEY_ADMIN_SECRET: ADMIN_SECRET, LATCHKEY_PUBLIC_URL: PUBLIC_URL },
    });
    check(JSON.parse(printed).revoked === true, `${program} has printed: ${printed}`);
  }
  for (const type of ['module', 'commonjs']) {
    const load = type === 'module' ? 'await import' : 'require';
    const program = `const { operations } = ${load}('@latchkey/schema'); console.log(operations['grants.convert'].path);`;
    const printed = run('node', [`--input-type=${type}`, '--eval', program], folder, env);
    check(printed === '/oauth/convert\n', `The schema as ${type} has printed: ${printed}`);
  }
}

/** docs/quickstart.md, with the SDK of the registry. */
async function followQuickstart(folder: string, env: Environment, version: string, use: Service) {
  await mkdir(folder, { recursive: true });
  const blocks = codeBlocks(await readFile(join(root, 'docs/quickstart.md'), 'utf8'));
  const one = (pattern: RegExp, language = 'sh') => {
    const block = blocks.find((each) => each.language === language && pattern.test(each.code));
    check(block !== undefined, `docs/quickstart.md has no block in ${language} with ${pattern}.`);
    return block.code;
  };

  // Before the first release, the page packs the SDK.
  const create = one(/npm init/)
    .replace(/^sdk=.*\n/m, '')
    .replace('mkdir ../my-app && cd ../my-app\n', '')
    .replace('npm install "$sdk"', 'npm install @latchkey/client');
  check(/^npm install @latchkey\/client /m.test(create), `The quickstart installs:\n${create}`);
  run('bash', ['-euc', create], folder, env);
  await checkOrigins(folder, env);
  const { version: installed } = await manifestIn(join(folder, 'node_modules/@latchkey/client'));
  check(installed === version, `The quickstart has installed ${installed}.`);

  const port = await freePort();
  const program = one(/expressLinking/, 'ts').replaceAll(PORT_OF_PAGES, port);
  await writeFile(join(folder, 'app.ts'), program);
  const start = one(/app\.ts/).replace(/^export .*\n/gm, '');
  const application = await startLinkingProgram(['bash', '-euc', start], port, {
    cwd: folder,
    env: {
      ...env,
      LATCHKEY_URL: use.url,
      LATCHKEY_APPLICATION_SECRET: use.createApplication(),
    },
  });
  const { text } = await connectAda(new Browser(), `${application.url}/connect`);
  await application.stop();
  check(text.includes('"username":"ada"'), `The quickstart has shown:\n${text}`);
}

/** The test server, in a project that tests with it. */
async function useTestServer(folder: string, env: Environment, version: string) {
  const packages = [`@latchkey/client@${version}`, `@latchkey/testing@${version}`];
  await project(folder, env, packages);
  const program = `
import { Latchkey } from '@latchkey/client';
import { createTestServer } from '@latchkey/testing';
const server = await createTestServer();
const latchkey = new Latchkey(server);
const { code } = await server.issueCode();
console.log((await latchkey.convert(code)).revoked);
await server.close();
`;
  const printed = run('node', ['--input-type=module', '--eval', program], folder, env);
  check(printed === 'false\n', `The program with the test server has printed: ${printed}`);
}

/** Who has no registry installs the address of a tarball, such as those of the release of a tag. */
async function installAddress(folder: string, env: Environment, tarball: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const server = createServer((request, response) => {
    if (request.url === `/${basename(tarball)}`) createReadStream(tarball).pipe(response);
    else response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/${basename(tarball)}`;
    await writeFile(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
    // Of this process, so it must not wait for the command.
    await promisify(execFile)('npm', ['install', address], { cwd: folder, env });
    const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
    const { resolved } = packages['node_modules/@latchkey/client'];
    check(resolved === address, `The SDK was installed from ${resolved}.`);
  } finally {
    server.close();
  }
  const program = "console.log(typeof (await import('@latchkey/client')).Latchkey)";
  const printed = run('node', ['--input-type=module', '--eval', program], folder, env);
  check(printed === 'function\n', `The SDK of an address has printed: ${printed}`);
}

/** The command of a package that needs nothing of the others. */
function useRace(folder: string, env: Environment, version: string) {
  const npx = ['--yes', `--registry=${env.npm_config_registry}`, `oauth-race@${version}`];
  const printed = run('npx', [...npx, '--version'], folder, env);
  check(printed === `${version}\n`, `oauth-race has printed: ${printed}`);
}

async function rehearse(folder: string): Promise<void> {
  const tools = await step('the tools of the rehearsal are installed', async () =>
    join(
      await installFromLockfile(join(root, 'scripts/release/tools'), 'release-tools'),
      'node_modules',
    ),
  );
  const upstream = run('npm', ['config', 'get', 'registry'], root, process.env).trim();
  const copy = join(folder, 'latchkey');
  await step('the tree is copied', () => copyTree(copy));
  const version = await step('the versions are raised', () => raiseVersions(copy));
  const registry = await step('the registry runs', () =>
    startRegistry(tools, join(folder, 'registry'), upstream),
  );
  try {
    checkReach(registry.env, upstream, folder);
    const tarballs = join(folder, 'tarballs');
    await step(`version ${version} is built and packed`, () =>
      run('npm', ['run', '-s', 'release:pack', '--', tarballs], copy, registry.env),
    );
    await step(`version ${version} is published to ${registry.url}`, async () => {
      // As the workflow publishes: with nothing but this file and the tarballs.
      const alone = join(folder, 'publish.ts');
      await cp(join(copy, 'scripts/release/publish.ts'), alone);
      const words = [alone, tarballs, `--registry=${registry.url}`];
      const printed = run(process.execPath, words, folder, registry.env);
      const published = printed.match(/^\S+ \S+ is published$/gm) ?? [];
      check(published.length === folders.length, `The publishing has printed: ${printed}`);
    });
    await step('the bills of materials are valid', () => checkBills(tarballs, tools));
    await step('the address of a tarball can be installed', () =>
      installAddress(
        join(folder, 'address'),
        registry.env,
        join(tarballs, `latchkey-client-${version}.tgz`),
      ),
    );
    await usePackages(folder, registry.env, tools, version);
  } finally {
    for (const child of running) process.kill(-(child.pid as number), 'SIGKILL');
    await registry.stop();
  }
}

/** What users do, each in a folder of their own. */
async function usePackages(folder: string, env: Environment, tools: string, version: string) {
  const node = (name: string) => join(tools, name, 'bin/node');
  const { engines } = await manifestIn(join(root, 'apps/server'));
  const [, floor = ''] = /^>=(\d+\.\d+)$/.exec(engines.node) ?? [];
  const oldest = run(node('node-oldest'), ['--version'], folder, env).trim();
  check(oldest.startsWith(`v${floor}.`), `The oldest Node is ${floor}, and this is ${oldest}.`);
  const newest = run(node('node-newest'), ['--version'], folder, env).trim();

  await step('npm install --global @latchkey/server has the versions of the lockfile', () =>
    installServer(folder, withNode(env, node('node-newest')), version),
  );

  const onNode20 = withNode(env, node('node20'));
  await step('npx oauth-race, on Node 20', () => useRace(folder, onNode20, version));
  for (const [name, title] of [
    ['node-newest', newest],
    ['node-oldest', oldest],
  ] as const) {
    const onNode = withNode(env, node(name));
    const service = await step(`npx @latchkey/server serve, on Node ${title}`, () =>
      startServer(join(folder, `server-${name}`), onNode, version),
    );
    await step('the quickstart, on Node 20, with that server', () =>
      followQuickstart(join(folder, `my-app-${name}`), onNode20, version, service),
    );
    await service.stop();
    if (name === 'node-newest') {
      // The same database: its demo application is linked to the account of its demo code.
      const host = await startServer(join(folder, `server-${name}`), onNode, version, hostSettings);
      await step('the SDK and the schema on Node 20: ESM, CommonJS and types', () =>
        useSdk(join(folder, 'sdk'), onNode20, version, host),
      );
      await host.stop();
    }
    await step(`the test server, on Node ${title}`, () =>
      useTestServer(join(folder, `testing-${name}`), onNode, version),
    );
  }
}

if (process.platform !== 'linux' || process.arch !== 'x64') {
  process.stderr.write('The rehearsal has the programs it needs for Linux on x64 only.\n');
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'latchkey-rehearsal-'));
try {
  await step('the rehearsal', () => rehearse(folder));
} finally {
  await rm(folder, { recursive: true, force: true });
}
