import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '@latchkey/test-kit/cache-folder';
import { installFromRequirements } from '@latchkey/test-kit/tools-from-requirements';
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
    await requireTools(['go']);
    const output = join(await cacheFolder(process.env), 'oauth-clients-go');
    await mkdir(output, { recursive: true });
    const build = ['build', '-mod=readonly', '-o', join(output, 'client'), '.'];
    await succeed('go', ['-C', join(folder, 'go'), ...build], options());
    return () => [join(output, 'client')];
  },
};

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
