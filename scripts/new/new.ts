// Makes a project that runs, out of the examples: `npm run new -- application --with express --in ../my-app`.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeProject } from './make-project.ts';
import { Refused, readOrder, USAGE } from './order.mjs';
import type { Role } from './projects.mjs';

const script = fileURLToPath(new URL('../run.mjs', import.meta.url));

async function pack(folder: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, 'pack', folder]);
  return stdout.trim();
}

/** What to do when it runs. */
const HINTS: Readonly<Record<Role, (port: number) => string>> = {
  application: (port) => `Then open http://127.0.0.1:${port}/connect.`,
  host: (port) =>
    `The service sends users there if it has SIGN_IN_URL=http://127.0.0.1:${port}/link: docs/guides/hosts.md.`,
  mcp: () =>
    'Then run a client in another terminal, also in the project: npm run client. It gets in if the service was started with CLIENT_REGISTRATION=on. CLIENT_DOCUMENTS lets others in: docs/guides/ai-clients.md.',
};

try {
  const order = readOrder(process.argv.slice(2));
  if (order === null) {
    process.stdout.write(USAGE);
  } else {
    const commands = await makeProject({ ...order, environment: process.env, pack });
    process.stdout.write(`${commands.join('\n')}\n`);
    process.stderr.write(`${HINTS[order.role](order.port)}\n`);
  }
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
