#!/usr/bin/env node
// Behind every `npm run …` of the root: brings what the command needs, then runs it. Needs nothing
// but Node >= 20 and npm. The tools themselves run on the Node that the lockfile pins, where there
// is one for this platform.
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'node_modules', '.bin');
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const env = {
  ...process.env,
  PATH: bin + delimiter + process.env.PATH,
  // No questions and no reports home in somebody's first minute.
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
};

/**
 * Runs a command to its end.
 *
 * @param output - where its output goes: `inherit`; `stderr`, so that stdout is the task's own; or
 *   `quiet`, to be shown only where it fails
 */
function run(command, args, output) {
  const stdio = { inherit: 'inherit', stderr: ['ignore', 2, 2], quiet: 'pipe' }[output];
  const child = spawnSync(command, args, { cwd: root, env, stdio, shell: isWindows });
  if (child.error) throw child.error;
  if (child.status === 0) return;
  if (output === 'quiet') process.stderr.write(Buffer.concat([child.stdout, child.stderr]));
  process.exit(child.status ?? 1);
}

const isWindows = process.platform === 'win32';
const pnpm = (args, output) => run('npx', ['--yes', packageManager, ...args], output);
const tool = (name, args) => run(join(bin, name), args, 'inherit');

/** Changes with everything that decides what is installed. */
function installedState() {
  const manifests = ['packages', 'apps']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .concat('.', 'examples')
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
  process.stderr.write('Installing what the lockfile names …\n');
  pnpm(['install', '--frozen-lockfile'], 'stderr');
  writeFileSync(stamp, state);
}

function checkNode() {
  const [major, minor] = spawnSync('node', ['-p', 'process.versions.node'], {
    env,
    shell: isWindows,
  })
    .stdout.toString()
    .split('.')
    .map(Number);
  if (major > 22 || (major === 22 && minor >= 18)) return;
  process.stderr.write(
    `Latchkey runs on Node 22.18 or later, and this is ${major}.${minor}. For this platform no Node comes with the packages: install Node 24, then try again.\n`,
  );
  process.exit(1);
}

/**
 * Runs a benchmark. The servers that Latchkey is compared with are dependencies of a package of its
 * own, with its own lockfile, and are installed only here.
 */
function benchmark(script, args) {
  pnpm(['--dir', 'benchmarks', 'install', '--ignore-workspace', '--frozen-lockfile'], 'stderr');
  tool('tsc', ['-p', 'benchmarks']);
  run('node', [join('benchmarks', script), ...args], 'inherit');
}

const build = (...filter) => pnpm(['exec', 'turbo', 'run', 'build', ...filter], 'quiet');

/** Becomes the command line of the service: its output, its signals, its exit code. */
function latchkey(args) {
  const script = join(root, 'apps', 'server', 'dist', 'latchkey.js');
  const options = { cwd: root, env, stdio: 'inherit', shell: isWindows };
  const child = spawn('node', [script, ...args], options);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

const tasks = {
  start: (args) => {
    build('--filter=@latchkey/server');
    latchkey(['serve', ...args]);
  },
  latchkey: (args) => {
    build('--filter=@latchkey/server');
    latchkey(args);
  },
  build: (args) => build(...args),
  // Of the SDK, and where asked of the test server, to try it in a project outside.
  pack: (args) => {
    build('--filter=@latchkey/client', '--filter=@latchkey/testing');
    run('node', [join(root, 'scripts', 'pack.mjs'), ...args], 'inherit');
  },
  test: (args) => {
    build();
    tool('vitest', ['run', ...args]);
  },
  // The same tests, with the rounds, the connections and the time that a change to the store or the
  // HTTP server deserves.
  'test:long': (args) => {
    env.TEST_LONG = '1';
    tasks.test(args);
  },
  // How fast Latchkey is beside the floor and the servers one would use instead.
  bench: (args) => {
    build('--filter=@latchkey/server');
    benchmark('performance/run.ts', args);
  },
  // The race and the abuse of codes, against the same servers.
  'bench:races': (args) => benchmark('races/run.ts', args),
  check: () => {
    tool('biome', ['check', '--error-on-warnings', '.']);
    pnpm(['exec', 'turbo', 'run', 'typecheck', 'package', '--output-logs=errors-only'], 'inherit');
  },
  format: () => tool('biome', ['check', '--write', '.']),
};

const [name, ...args] = process.argv.slice(2);
const task = Object.hasOwn(tasks, name ?? '') ? tasks[name] : undefined;
if (task === undefined) {
  process.stderr.write(`Usage: node scripts/run.mjs ${Object.keys(tasks).join('|')} [arguments]\n`);
  process.exit(2);
}
install();
checkNode();
task(args);
