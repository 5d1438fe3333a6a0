import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The built service, which `npm start` runs. */
export const script = fileURLToPath(new URL('../../apps/server/dist/latchkey.js', import.meta.url));

export type Environment = Record<string, string>;

/** The parts of this process's environment that every program needs. Nothing else may affect a test. */
export function environment(more: Environment = {}): Environment {
  const { PATH = '', HOME = '/' } = process.env;
  return { PATH, HOME, ...more };
}

/** The result of a program. */
export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

export function run(
  program: string,
  words: readonly string[],
  options: { cwd?: string; env: Environment },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...words], options, (error, stdout, stderr) => {
      // A program that can't be started has no exit code. A program that fails is no error here.
      if (error !== null && child.exitCode === null) reject(error);
      else resolve({ exitCode: child.exitCode, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/**
 * Runs a program that must succeed. Resolves to its output.
 *
 * @throws Error with its whole output if it fails
 */
export async function succeed(
  program: string,
  words: readonly string[],
  options: { cwd?: string; env: Environment },
): Promise<string> {
  const { exitCode, stdout, stderr } = await run(program, words, options);
  if (exitCode === 0) return stdout;
  throw new Error(`${program} ${words.join(' ')} failed:\n${stdout}${stderr}`);
}

export function latchkey(
  words: readonly string[],
  options: { cwd: string; env: Environment },
): Promise<Ended> {
  return run(process.execPath, [script, ...words], options);
}

/** A service in its own process. */
export interface ServiceProcess {
  /** The URL of the service. */
  url: string;
  port: string;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Ends it with SIGTERM. Resolves to its exit code. */
  stop(): Promise<number | null>;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
}

/**
 * Starts the service, by default on a free port, and waits until it listens.
 *
 * @param options.node - the Node that it runs on, by default that of the tests
 * @param options.script - by default that of the build
 */
export async function startService({
  node = process.execPath,
  script: program = script,
  ...options
}: {
  cwd: string;
  env: Environment;
  node?: string;
  script?: string;
}): Promise<ServiceProcess> {
  if (!existsSync(program)) {
    throw new Error('The server is not built. `npm test` builds it, and so does `npm run build`.');
  }
  const child = spawn(node, [program, 'serve'], {
    cwd: options.cwd,
    env: { PORT: '0', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = once(child, 'exit');
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      const [, listening] = /^Latchkey listens on (\S+),/m.exec(stdout) ?? [];
      if (listening !== undefined) resolve(listening);
    });
    exited.then(() => reject(new Error(`The service exited before it listened: ${stderr}`)));
  });
  return {
    url,
    port: new URL(url).port,
    stdout: () => stdout,
    stderr: () => stderr,
    async kill() {
      kill();
      await exited;
      process.off('exit', kill);
    },
    async stop() {
      child.kill('SIGTERM');
      const [exitCode] = await exited;
      process.off('exit', kill);
      return exitCode;
    },
  };
}

/** A secret and a code of the same application. */
export interface DemoPair {
  applicationSecret: string;
  code: string;
}

/** The pair in the output of a first start or of `latchkey demo`. */
export function pairIn(text: string): DemoPair {
  const [applicationSecret] = /lk_app_\w+/.exec(text) ?? [];
  const [code] = /lk_code_\w+/.exec(text) ?? [];
  if (applicationSecret === undefined || code === undefined) {
    throw new Error(`There is no secret and code in: ${text}`);
  }
  return { applicationSecret, code };
}
