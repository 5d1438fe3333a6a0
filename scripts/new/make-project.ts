import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Order, Refused } from './order.mjs';
import { type Project, projects } from './projects.mjs';
import { type Registration, registrars } from './register.ts';
import { quoted, startOf } from './start-of-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(root, path), 'utf8');

export interface Means {
  /** Has what the command line needs: DATABASE_URL, or a key in LATCHKEY_ADMIN_SECRET. */
  environment: NodeJS.ProcessEnv;
  /** Packs the SDK into a folder, and resolves to the path of the tarball. */
  pack(this: void, folder: string): Promise<string>;
}

/** Makes a project that runs. Nothing is left of it if it fails. Resolves to the commands that start it. */
export async function makeProject(order: Order & Means): Promise<[string, string]> {
  const { role, framework, url, port, environment } = order;
  const project = projects[role][framework];
  if (project === undefined) throw new Error(`There is no ${role} with ${framework}.`);
  const folder = resolve(order.folder);
  const name = order.name ?? basename(folder);
  const to = { role, name, url, port, environment };
  const made = await takeFolder(folder);
  try {
    const issuer = await issuerOf(to);
    await copyFiles(project, folder);
    if (project.language === 'node') {
      await addManifest(project, folder, { sdk: await order.pack(folder), port });
    } else {
      await addStart(project, folder);
    }
    await writeFile(join(folder, '.gitignore'), '.env\n.venv/\n.next/\nnode_modules/\n');
    const settings = await registrars[role](to, issuer);
    const lines = Object.entries(settings).map(([setting, value]) => `${setting}=${value}\n`);
    await writeFile(join(folder, '.env'), lines.join(''), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    // A folder that was there may be where the terminal is.
    const left = made ? [made] : (await readdir(folder)).map((name) => join(folder, name));
    for (const path of left) await rm(path, { recursive: true, force: true });
    throw error;
  }
  const [install, start] = COMMANDS[project.language];
  return [`cd ${quoted(folder)} && ${install}`, start];
}

const COMMANDS = {
  node: ['npm install', 'npm start'],
  python: [
    'python3 -m venv .venv && .venv/bin/pip install --requirement requirements.txt',
    './start.sh',
  ],
  go: ['go mod download', './start.sh'],
} as const;

/** Makes a folder, unless an empty one is there. Resolves to the first folder on its path that was not there. */
async function takeFolder(folder: string): Promise<string | undefined> {
  let made: string | undefined;
  let names: string[];
  try {
    made = await mkdir(folder, { recursive: true });
    names = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Refused(`${folder} cannot be used (${code}). Name another folder.`);
  }
  if (names.length > 0) throw new Refused(`${folder} is not empty. Name a new folder.`);
  return made;
}

/** What applications compare with the `iss` of a response: PUBLIC_URL, if the service has one. */
async function issuerOf(to: Registration): Promise<string> {
  const response = await fetch(`${to.url}/.well-known/oauth-authorization-server`).catch(() => {
    throw new Refused(`No service responds at ${to.url}. ${startOf(to)}`);
  });
  const { issuer } = (await response.json().catch(() => ({}))) as { issuer?: string };
  if (!response.ok || issuer === undefined || !ISSUER.test(issuer)) {
    throw new Refused(`What responds at ${to.url} links no accounts. ${startOf(to)}`);
  }
  return issuer;
}

/** Without what a shell would run when it reads .env. */
const ISSUER = /^https?:\/\/[\w.~:[\]/%-]+$/;

/** In a project, the files of an example are beside each other. */
const IMPORTS = /'\.\.\/(?:express|mcp)\//g;

async function copyFiles({ files }: Project, folder: string): Promise<void> {
  for (const [path, source] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, (await read(source)).replaceAll(IMPORTS, "'./"));
  }
}

async function addManifest(
  { dependencies = [], devDependencies = [], run, scripts }: Project,
  folder: string,
  { sdk, port }: { sdk: string; port: number },
): Promise<void> {
  const versions = await versionsOf();
  const withVersions = (names: readonly string[]) =>
    Object.fromEntries(
      names.map((name) => {
        const version = versions.get(name);
        if (version === undefined) throw new Error(`${name} has no version.`);
        return [name, version];
      }),
    );
  const manifest = {
    private: true,
    type: 'module',
    scripts: { start: run.endsWith('--port') ? `${run} ${port}` : run, ...scripts },
    dependencies: { '@latchkey/client': `file:${basename(sdk)}`, ...withVersions(dependencies) },
    devDependencies: withVersions(devDependencies),
  };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Those of the repository, and what only projects have. */
async function versionsOf(): Promise<ReadonlyMap<string, string>> {
  const workspace = await read('pnpm-workspace.yaml');
  const next = JSON.parse(await read('tests/support/next/tools/package.json'));
  const only = JSON.parse(await read('scripts/new/starts/package.json'));
  const catalog = [...workspace.matchAll(/^ {2}"?([\w@/.-]+)"?: (\^?\d\S*)$/gm)];
  return new Map([
    ...catalog.map(([, name = '', version = '']) => [name, version] as const),
    ...Object.entries<string>(next.dependencies),
    ...Object.entries<string>(only.dependencies),
  ]);
}

async function addStart({ run }: Project, folder: string): Promise<void> {
  const path = join(folder, 'start.sh');
  await writeFile(path, `${await read('scripts/new/starts/start.sh')}exec ${run}\n`);
  await chmod(path, 0o755);
}
