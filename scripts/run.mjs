#!/usr/bin/env node
// Runs every `npm run …` of the root: installs what the command needs, then runs it. It needs only
// Node >= 20 and npm. The tools run on the Node that the lockfile pins, where it has one for this
// platform.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withoutSettings } from './environment.mjs';
import { Refused, readOrder, USAGE } from './new/order.mjs';
import { packagesToPack } from './packages-to-pack.mjs';
import { findPnpm, hasGlibc, isPinnedPlatform } from './pnpm.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const isWindows = process.platform === 'win32';
const parent = process.ppid;

/** For tools. Only the service itself gets its settings. */
const env = {
  ...withoutSettings(process.env),
  PATH: bin + delimiter + process.env.PATH,
  // The first command should neither ask a question nor send a report.
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  // For turbo's cache of test results. Where the lockfile has the Node, the lockfile is enough.
  ...(isPinnedPlatform ? {} : { TEST_NODE: process.versions.node }),
};

/**
 * Runs a command until it exits, and exits if it fails.
 *
 * @param output - where its output goes: `inherit`; `stderr`, so that stdout has only the task's own
 *   output; or `quiet`, which shows it only if the command fails
 */
function run(command, args, output) {
  const stdio = { inherit: 'inherit', stderr: ['ignore', 2, 2], quiet: 'pipe' }[output];
  const child = spawnSync(command, args, { cwd: root, env, stdio, shell: isWindows });
  if (child.error) throw child.error;
  if (child.status === 0) return;
  if (output === 'quiet') process.stderr.write(Buffer.concat([child.stdout, child.stderr]));
  process.exit(child.status ?? 1);
}

let foundPnpm;
function pnpm(args, output) {
  if (foundPnpm === undefined) {
    foundPnpm = findPnpm();
    const { folder } = foundPnpm;
    if (folder !== null) env.PATH = folder + delimiter + env.PATH;
  }
  run(foundPnpm.command, [...foundPnpm.args, ...args], output);
}

const tool = (name, args) => run(join(bin, name), args, 'inherit');

/** A hash that changes whenever something else is to be installed. */
function installedState() {
  const manifests = ['packages', 'apps']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .concat('.', 'examples', 'tests')
    .map((folder) => join(folder, 'package.json'));
  const hash = createHash('sha256');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', ...manifests]) {
    const path = join(root, file);
    if (existsSync(path)) hash.update(file).update(readFileSync(path));
  }
  return hash.digest('hex');
}

function install() {
  const stamp = join(root, 'node_modules', '.latchkey-installed');
  const state = installedState();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  process.stderr.write('Installing the packages of the lockfile, for about a minute …\n');
  // Quiet: pnpm would also show notices of its own.
  pnpm(['install', '--frozen-lockfile'], 'quiet');
  writeFileSync(stamp, state);
}

/** Checks Node before anything is installed: on most platforms the tools run on the one that is there. */
function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (isPinnedPlatform && !hasGlibc()) {
    stop(
      'On Linux, the tools of Latchkey need glibc, which Alpine does not have. Use another image, such as node:24.',
    );
  }
  if (isPinnedPlatform ? major >= 20 : major > 22 || (major === 22 && minor >= 18)) return;
  const needed = isPinnedPlatform ? '20' : '22.18';
  stop(
    `On ${process.platform} ${process.arch}, Latchkey needs Node ${needed} or later, and this is Node ${process.versions.node}. Install Node 24, then try again.`,
  );
}

/** Stops before the installation where `npm run new` makes nothing. */
function checkOrder(args) {
  try {
    if (args.length > 0 && readOrder(args) !== null) return;
  } catch (error) {
    if (error instanceof Refused) stop(error.message);
    throw error;
  }
  process.stdout.write(USAGE);
  process.exit();
}

/** Stops what turbo would keep as the result of the tests on another Node. */
function checkCacheKey() {
  if (isPinnedPlatform || process.env.TEST_NODE === process.versions.node) return;
  stop('Here, turbo does not know the version of Node. Run: npm run test:packages');
}

function stop(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

/** Runs a benchmark. Only this installs the other servers, from the benchmarks' own lockfile. */
function benchmark(script, args) {
  pnpm(['--dir', 'benchmarks', 'install', '--ignore-workspace', '--frozen-lockfile'], 'stderr');
  tool('tsc', ['-p', 'benchmarks']);
  run('node', [join('benchmarks', script), ...args], 'inherit');
}

const build = (...filter) => pnpm(['exec', 'turbo', 'run', 'build', ...filter], 'quiet');

/** Runs the service or its command line with the settings, and passes on signals and the exit code. */
function latchkey(args) {
  const options = {
    cwd: root,
    env: { ...process.env, PATH: env.PATH },
    stdio: 'inherit',
    shell: isWindows,
  };
  const child = spawn('node', args, options);
  // npm sends a SIGTERM to the shell between it and this process. The shell ends and passes on nothing.
  const watch = setInterval(() => {
    if (env.npm_lifecycle_event !== undefined && process.ppid !== parent) end('SIGTERM');
  }, 100);
  // A second signal would end the service before it has closed.
  function end(signal) {
    clearInterval(watch);
    child.kill(signal);
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

const serverFolder = join(root, 'apps', 'server');
const built = join(serverFolder, 'dist', 'latchkey.js');
const source = join(serverFolder, 'src', 'cli', 'latchkey.ts');

const tasks = {
  start: (args) => {
    process.stderr.write('Building the service …\n');
    build('--filter=@latchkey/server');
    latchkey([built, 'serve', ...args]);
  },
  // Node runs the sources, without a build, and starts the service again whenever one of them changes.
  dev: (args) => {
    latchkey(['--watch', '--watch-preserve-output', source, 'serve', ...args]);
  },
  // As bin/latchkey, which installs nothing.
  latchkey: (args) => latchkey([source, ...args]),
  build: (args) => build(...args),
  // Builds the service and installs it, with only what it runs on, into a folder.
  assemble: ([folder, ...rest]) => {
    if (folder === undefined || rest.length > 0) stop('Usage: npm run assemble -- FOLDER');
    build('--filter=@latchkey/server');
    pnpm(['--filter=@latchkey/server', 'deploy', '--prod', '--legacy', resolve(folder)], 'stderr');
  },
  // Packs the SDK, or what it is asked for, to try it in another project.
  pack: (args) => {
    const { packages } = packagesToPack(args);
    process.stderr.write(`Building ${packages.join(', ')} …\n`);
    build(...packages.map((path) => `--filter=./${path}`));
    run('node', [join(root, 'scripts', 'pack.mjs'), ...args], 'inherit');
  },
  // Makes a project of the examples, with the settings: its registration is a command of the operator.
  new: (args) => latchkey([join(root, 'scripts', 'new', 'new.ts'), ...args]),
  // The tests of every day. A test that takes long is left out: see packages/test-kit/src/long.ts.
  test: (args) => {
    // Turbo has built it before it runs the `test` script of a package.
    if (env.TURBO_HASH === undefined) build();
    else checkCacheKey();
    const leftOut = env.TEST_ALL === '1' ? [] : ['--exclude', '**/*.slow.test.ts'];
    tool('vitest', ['run', ...leftOut, ...args]);
  },
  // The same, package by package, and from turbo's cache where nothing has changed.
  'test:packages': (args) => {
    pnpm(['exec', 'turbo', 'run', 'test', '--concurrency=1', ...args], 'inherit');
  },
  // Every test, also those that `npm test` leaves out because they take long.
  'test:all': (args) => {
    env.TEST_ALL = '1';
    tasks.test(args);
  },
  // Every test, with more rounds, connections and time: before a change to the store or the HTTP server.
  'test:long': (args) => {
    env.TEST_LONG = '1';
    tasks['test:all'](args);
  },
  // Links accounts with unmodified OAuth libraries, and races OAuth servers. Only this installs them, from
  // their own lockfiles.
  'test:clients': (args) => {
    env.TEST_ALL = '1';
    build('--filter=@latchkey/server', '--filter=oauth-race');
    tool('vitest', ['run', '--config', join('tests', 'clients', 'vitest.config.ts'), ...args]);
  },
  // Measures Latchkey and other servers.
  bench: (args) => {
    build('--filter=@latchkey/server');
    benchmark('performance/run.ts', args);
  },
  // Redeems codes concurrently, and abuses them, on Latchkey and other servers.
  'bench:races': (args) => benchmark('races/run.ts', args),
  // Checks a MongoDB that the tests can't start, such as a sharded cluster or Atlas.
  'check:mongodb': (args) => {
    build('--filter=@latchkey/server');
    run('node', [join('apps', 'server', 'test', 'check-mongodb', 'check.ts'), ...args], 'inherit');
  },
  // Prints how large the service is, and how much of it runs for what it is there for.
  measure: (args) => run('node', [join('scripts', 'measure', 'measure.ts'), ...args], 'inherit'),
  check: () => {
    tool('biome', ['check', '--error-on-warnings', '.']);
    pnpm(['exec', 'turbo', 'run', 'typecheck', 'package', '--output-logs=errors-only'], 'inherit');
  },
  // Makes what is generated and committed: all of it, or the files whose path contains a word.
  generate: (args) => run('node', [join('scripts', 'generate.ts'), ...args], 'inherit'),
  format: () => tool('biome', ['check', '--write', '.']),
  // docs/releasing.md has these in their order.
  changeset: (args) => tool('changeset', args),
  'release:version': () => tool('changeset', ['version']),
  'release:rehearse': () => run('node', [join('scripts', 'release', 'rehearse.ts')], 'inherit'),
  'release:pack': (args) => {
    build();
    run('node', [join('scripts', 'release', 'pack.ts'), ...args], 'inherit');
  },
  'release:publish': (args) => {
    run('node', [join('scripts', 'release', 'publish.ts'), ...args], 'inherit');
  },
};

const [name, ...args] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name ?? '') ? tasks[name] : undefined;
if (task === undefined) {
  process.stderr.write(`Usage: node scripts/run.mjs ${Object.keys(tasks).join('|')} [arguments]\n`);
  process.exit(2);
}
if (name === 'new') checkOrder(args);
checkNode();
install();
task(args);
