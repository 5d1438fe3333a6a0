// Makes a project that runs, out of the examples: `npm run new -- application --with express --in ../my-app`.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { makeProject, type Order } from './make-project.ts';
import { ports, projects, type Role } from './projects.ts';
import { Refused } from './refused.ts';

const USAGE =
  'npm run new -- application|host|mcp --with FRAMEWORK --in FOLDER [--url URL] [--port PORT]';
const script = fileURLToPath(new URL('../run.mjs', import.meta.url));

const listOf = (names: readonly string[]) => names.join(', ').replace(/, (?=[^,]*$)/, ' or ');

/** The one of some names that is meant, with what to write if it is none of them. */
function oneOf(names: readonly string[], given: string | undefined, what: string): string {
  if (given !== undefined && names.includes(given)) return given;
  const found = given === undefined ? `Say which ${what}` : `There is no ${what} "${given}"`;
  throw new Refused(`${found}: ${listOf(names)}.\n${USAGE}`);
}

function read(args: readonly string[]): Omit<Order, 'environment' | 'pack'> {
  const { values, positionals } = parse(args);
  const role = oneOf(Object.keys(projects), positionals[0], 'project') as Role;
  const framework = oneOf(Object.keys(projects[role]), values.with, `framework of a ${role}`);
  if (values.in === undefined || positionals.length > 1) {
    throw new Refused(`Name one new folder: --in FOLDER.\n${USAGE}`);
  }
  const port = Number(values.port ?? ports[role]);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw new Refused('--port takes a number from 1 to 65535.');
  }
  const url = values.url.replace(/\/$/, '');
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new Refused('--url takes the address of the service, such as http://127.0.0.1:3000.');
  }
  return { role, framework, folder: values.in, url, port };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        with: { type: 'string' },
        in: { type: 'string' },
        url: { type: 'string', default: 'http://127.0.0.1:3000' },
        port: { type: 'string' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    throw new Refused(`${(error as Error).message}\n${USAGE}`);
  }
}

async function pack(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'pack', folder]);
  return stdout.trim();
}

/** What the service still needs. */
const HINTS: Readonly<Record<Role, (port: number) => string>> = {
  application: (port) => `Then open http://127.0.0.1:${port}/connect.`,
  host: (port) =>
    `The service sends users there if it has SIGN_IN_URL=http://127.0.0.1:${port}/link: docs/guides/hosts.md.`,
  mcp: () =>
    'Clients get in if the service has SIGN_IN_URL, and CLIENT_DOCUMENTS or CLIENT_REGISTRATION: docs/guides/ai-clients.md.',
};

try {
  const order = read(process.argv.slice(2));
  const commands = await makeProject({ ...order, environment: process.env, pack });
  process.stdout.write(`${commands.join('\n')}\n`);
  process.stderr.write(`${HINTS[order.role](order.port)}\n`);
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
