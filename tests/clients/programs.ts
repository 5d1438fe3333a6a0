import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@latchkey/test-kit/cache-folder';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
import { describe, expect, test } from 'vitest';
import { withoutSettings } from '../../scripts/environment.mjs';
import { findPnpm } from '../../scripts/pnpm.mjs';
import { type RunningProgram, startProgram } from '../support/program.ts';
import { type Environment, environment, succeed } from '../support/service.ts';
import { requireTools } from '../support/tools.ts';
import type { Client } from './clients.ts';

export const folder = fileURLToPath(new URL('../../examples/oauth-clients', import.meta.url));

/** The command that runs a program of a language. */
type Command = (client: Client) => [string, ...string[]];

/** Installs the libraries of a language from its lockfile. */
const installers: Record<Client['language'], () => Promise<Command>> = {
  async javascript() {
    const { command, args } = findPnpm();
    const install = ['install', '--ignore-workspace', '--ignore-scripts', '--frozen-lockfile'];
    await succeed(command, [...args, '--dir', join(folder, 'javascript'), ...install], options());
    return ({ program }) => [process.execPath, join(folder, program)];
  },
  async python() {
    const requirements = join(folder, 'python', 'requirements.txt');
    const programs = await installFromRequirements(requirements, 'oauth-clients', process.env);
    const python = join(programs, 'python');
    return ({ program, isScript }) => {
      const file = join(folder, program);
      return isScript ? [python, file] : [python, '-m', 'flask', '--app', file, 'run', '--port=0'];
    };
  },
  async go() {
    const program = await buildGo(join(folder, 'go'), 'oauth-clients-go');
    return () => [program];
  },
};

/** Builds a program in Go, and returns its path. Its `name` is that of its folder in the cache. */
async function buildGo(from: string, name: string): Promise<string> {
  await requireTools(['go']);
  const output = join(await cacheFolder(process.env), name);
  await mkdir(output, { recursive: true });
  const program = join(output, 'program');
  await succeed('go', ['-C', from, 'build', '-mod=readonly', '-o', program, '.'], options());
  return program;
}

/** What the Python programs of hosts and guards need. */
const FASTAPI = fileURLToPath(new URL('../../examples/hosts/fastapi', import.meta.url));

/**
 * Prepares the programs that are no applications: a host, or an API with a guard.
 *
 * @returns for each language, how to run it on a port, or why it can't be run
 */
export async function installRole(role: 'host' | 'guard') {
  const of = fileURLToPath(new URL(`../../examples/${role}s`, import.meta.url));
  const fastapi = async () => {
    const requirements = join(FASTAPI, 'requirements.txt');
    const programs = await installFromRequirements(requirements, 'fastapi', process.env);
    const words = ['-m', 'uvicorn', '--no-access-log', '--app-dir', join(of, 'fastapi')];
    return (port: string) => [
      ...[join(programs, 'python'), ...words],
      ...['--port', port, `${role}:app`],
    ];
  };
  const go = async () => {
    const program = await buildGo(join(of, 'go'), `${role}-go`);
    return () => [program];
  };
  const outcomes = { FastAPI: fastapi(), Go: go() };
  return Promise.all(
    Object.entries(outcomes).map(async ([name, outcome]) => ({
      name,
      command: await outcome.catch((error: Error) => error),
    })),
  );
}

/** Describes the programs of a role. One that can't be run fails in CI, and is skipped elsewhere. */
export function describeRole(
  role: string,
  programs: Awaited<ReturnType<typeof installRole>>,
  suite: (command: (port: string) => string[]) => void,
): void {
  for (const { name, command } of programs) {
    if (!(command instanceof Error)) describe(`a ${role} with ${name}`, () => suite(command));
    else if (process.env.CI)
      test(`a ${role} with ${name} can be run`, () => expect.fail(command.message));
    else describe.skip(`${name} (not run: ${command.message})`, () => test('passes'));
  }
}

/** Package managers need the settings of the machine, such as its proxy. */
const options = () => ({ cwd: folder, env: withoutSettings(process.env) as Environment });

/** The languages whose libraries are installed, each with its command, or with why they are not. */
export async function install(): Promise<Record<Client['language'], Command | Error>> {
  const outcomes = Object.entries(installers).map(async ([language, installer]) => {
    const outcome = await installer().catch((error: Error) => error);
    return [language, outcome] as const;
  });
  return Object.fromEntries(await Promise.all(outcomes)) as Record<
    Client['language'],
    Command | Error
  >;
}

/** Starts an application and waits until it says where it listens. */
export function startApplication(
  command: readonly string[],
  settings: Environment,
): Promise<RunningProgram> {
  const python = { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' };
  const env = environment({ PORT: '0', ...python, ...settings });
  return startProgram(command, { env }, async (printed) => {
    const [url] = /http:\/\/127\.0\.0\.1:\d+(?=[\s/])/.exec(printed) ?? [];
    return url;
  });
}
