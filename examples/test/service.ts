import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The service as it is built: what `npm start` and `npm run latchkey` run. */
export const script = fileURLToPath(new URL('../../apps/server/dist/latchkey.js', import.meta.url));

/** A process's environment. */
export type Environment = Record<string, string>;

/** What every program needs of this process's environment, and nothing that would tilt a test. */
export function environment(more: Environment = {}): Environment {
  const { PATH = '', HOME = '/' } = process.env;
  return { PATH, HOME, ...more };
}

/** What a program did. */
export interface Ended {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. */
export function run(
  program: string,
  words: readonly string[],
  options: { cwd?: string; env: Environment },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = execFile(program, [...words], options, (error, stdout, stderr) => {
      // A program that can't be started has no exit code; one that fails is no error here.
      if (error !== null && child.exitCode === null) reject(error);
      else resolve({ exitCode: child.exitCode, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/**
 * Runs a program that has to succeed; resolves to what it prints.
 *
 * @throws Error with all that it has written, where it fails
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

/** Runs a command of the service's command line. */
export function latchkey(
  words: readonly string[],
  options: { cwd: string; env: Environment },
): Promise<Ended> {
  return run(process.execPath, [script, ...words], options);
}

/** A service in a process of its own. */
export interface ServiceProcess {
  /** Where it listens. */
  url: string;
  port: string;
  /** What it has written so far. */
  stdout(): string;
  stderr(): string;
  /** Ends it by SIGTERM; resolves to its exit code. */
  stop(): Promise<number | null>;
}

/** Starts the service, on a free port unless told, and waits until it listens. */
export async function startService(options: {
  cwd: string;
  env: Environment;
}): Promise<ServiceProcess> {
  if (!existsSync(script)) {
    throw new Error('The server is not built. `npm test` builds it, and so does `npm run build`.');
  }
  const child = spawn(process.execPath, [script, 'serve'], {
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
    exited.then(() => reject(new Error(`The service ended before it listened: ${stderr}`)));
  });
  return {
    url,
    port: new URL(url).port,
    stdout: () => stdout,
    stderr: () => stderr,
    async stop() {
      child.kill('SIGTERM');
      const [exitCode] = await exited;
      process.off('exit', kill);
      return exitCode;
    },
  };
}

/** A secret and a code that work with each other. */
export interface DemoPair {
  applicationSecret: string;
  code: string;
}

/** The pair in what a first start or `latchkey demo` printed. */
export function pairIn(text: string): DemoPair {
  const [applicationSecret] = /lk_app_\w+/.exec(text) ?? [];
  const [code] = /lk_code_\w+/.exec(text) ?? [];
  if (applicationSecret === undefined || code === undefined) {
    throw new Error(`There is no secret and code in: ${text}`);
  }
  return { applicationSecret, code };
}
