import { execFile } from 'node:child_process';
import { glob, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { type Manifest, manifests, PARTS_OF_SERVICE } from './support/manifests.ts';

// A package imports what its manifest names, and reaches into no other folder. Within a package, imports
// point inward, and nowhere do they make a circle. The
// linter also refuses what a type checker can't see.

const root = fileURLToPath(new URL('..', import.meta.url));

/** The folders of a package, from the inside out. Those of one layer may import each other. */
const LAYERS: Readonly<Record<string, string[][]>> = {
  'packages/rules': [
    ['outbound'],
    ['audit', 'limits', 'log'],
    [
      ...['accounts', 'applications', 'client-documents', 'connections', 'events'],
      ...['grants', 'keys', 'linking', 'registration', 'resources', 'summary', 'work'],
    ],
  ],
  'apps/server': [
    ['page-texts'],
    ['operations'],
    ['metrics', 'openapi', 'tracing'],
    ['http'],
    // The files that assemble the service.
    ['open-service.ts', 'start-server.ts'],
    ['demo', 'doctor', 'restore'],
    ['cli'],
  ],
};

const { devDependencies: toolsOfAll = {} } = await manifestOf('');
const ofWorkspace = new Map((await manifests()).map((one) => [one.folder, one]));

async function manifestOf(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8'));
}

const isTest = (file: string) => /\.test(-d)?\.ts$|^[^/]+\/[^/]+\/(?!src\/)/.test(file);
const folderOf = (file: string) => file.split('/').slice(0, 2).join('/');

/** What a file may import by name. The tests of the tarballs tell what is missing in a published one. */
function namesFor(file: string): Set<string> {
  const manifest = ofWorkspace.get(folderOf(file)) as Manifest;
  const { name, dependencies, peerDependencies, devDependencies } = manifest;
  const always = { ...dependencies, ...peerDependencies };
  if (PARTS_OF_SERVICE.includes(name) && !isTest(file)) return new Set(Object.keys(always));
  return new Set([name, ...Object.keys({ ...always, ...devDependencies, ...toolsOfAll })]);
}

const SPECIFIER = /(?:^(?:import|export|\})\s.*\bfrom |^import |\bimport\()'([^'$\n]+)'/gm;

/** The faults of a file's imports, as `file: import`. */
function faultsOf(file: string, text: string): string[] {
  const allowed = namesFor(file);
  const own = `${folderOf(file)}/`;
  const layers = LAYERS[folderOf(file)] ?? [];
  const layerOf = (room = '') => layers.findIndex((layer) => layer.includes(room));
  const [room, ...within] = file.slice(`${own}src/`.length).split('/');
  const isFault = (specifier: string) => {
    if (!specifier.startsWith('.')) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
      return !specifier.startsWith('node:') && !allowed.has(name);
    }
    const path = posix.join(posix.dirname(file), specifier);
    if (!path.startsWith(own)) return !isTest(file) || own !== 'apps/server/';
    if (isTest(file) || within.length === 0) return false;
    const from = layerOf(room);
    return from >= 0 && layerOf(path.slice(`${own}src/`.length).split('/')[0]) > from;
  };
  return [...text.matchAll(SPECIFIER)]
    .map(([, specifier = '']) => specifier)
    .filter(isFault)
    .map((specifier) => `${file}: ${specifier}`);
}

test('every import is named by the manifest of its package, and points inward', async () => {
  const faults: string[] = [];
  const pattern = '{packages,apps}/*/{src,test}/**/*.ts';
  let count = 0;
  for await (const file of glob(pattern, { cwd: root })) {
    if (/node_modules|\/dist\//.test(file)) continue;
    count += 1;
    faults.push(...faultsOf(file, await readFile(join(root, file), 'utf8')));
  }
  expect(count).toBeGreaterThan(1_000);
  expect(faults).toEqual([]);
});

test('an import that its manifest does not name is a fault, in each direction', () => {
  const parts = [...ofWorkspace.values()].filter(({ name }) => PARTS_OF_SERVICE.includes(name));
  const server = ofWorkspace.get('apps/server') as Manifest & { folder: string };
  for (const part of parts) {
    const file = `${part.folder}/src/planted.ts`;
    const others = [...parts, server].filter(({ name }) => name !== part.name);
    const undeclared = others.filter(({ name }) => part.dependencies?.[name] === undefined);
    expect(undeclared).toContain(server);
    for (const { name, folder } of others) {
      const byName = `${name}/clock`;
      const faults = part.dependencies?.[name] === undefined ? [`${file}: ${byName}`] : [];
      expect(faultsOf(file, `import type { A } from '${byName}';\n`)).toEqual(faults);
      const byPath = `../../../${folder}/src/clock.ts`;
      expect(faultsOf(file, `await import('${byPath}');\n`)).toEqual([`${file}: ${byPath}`]);
    }
  }
  // What is for tests is for tests alone.
  const planted = "import { Webhook } from 'standardwebhooks';\n";
  const rule = 'packages/rules/src/planted';
  expect(faultsOf(`${rule}.ts`, planted)).toEqual([`${rule}.ts: standardwebhooks`]);
  expect(faultsOf(`${rule}.test.ts`, planted)).toEqual([]);
});

test('no manifest points outward', () => {
  const order = ['@latchkey/schema', ...PARTS_OF_SERVICE, '@latchkey/server'];
  for (const { name, dependencies = {} } of ofWorkspace.values()) {
    if (!PARTS_OF_SERVICE.includes(name)) continue;
    const inward = order.slice(0, order.indexOf(name)).filter((one) => !one.includes('store-'));
    const ofService = Object.keys(dependencies).filter((one) => order.includes(one));
    expect(inward, name).toEqual(expect.arrayContaining(ofService));
  }
});

test('the server depends on what the packages in its tarball depend on', async () => {
  const { dependencies = {} } = ofWorkspace.get('apps/server') as Manifest;
  for (const { name, private: isPrivate, ...part } of ofWorkspace.values()) {
    if (!PARTS_OF_SERVICE.includes(name)) continue;
    expect(isPrivate, name).toBe(true);
    const outside = Object.keys(part.dependencies ?? {}).filter(
      (one) => !PARTS_OF_SERVICE.includes(one),
    );
    expect(Object.keys(dependencies), name).toEqual(expect.arrayContaining(outside));
  }
});

test.each(Object.keys(LAYERS))('every folder of %s has its layer', async (folder) => {
  const entries = await readdir(join(root, folder, 'src'), { withFileTypes: true });
  const rooms = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const named = LAYERS[folder]?.flat().filter((room) => !room.endsWith('.ts'));
  expect(named?.sort()).toEqual(rooms.sort());
});

test.each(Object.entries(LAYERS))(
  'in %s, an import that points outward is a fault, in each direction',
  (folder, layers) => {
    const rooms = layers.flat().filter((room) => !room.endsWith('.ts'));
    const layerOf = (room: string) => layers.findIndex((layer) => layer.includes(room));
    for (const room of rooms) {
      for (const [place, up] of [
        ['planted.ts', '..'],
        ['within/planted.ts', '../..'],
      ]) {
        const file = `${folder}/src/${room}/${place}`;
        const outward = layers.flat().filter((other) => layerOf(other) > layerOf(room));
        const pathOf = (other: string) =>
          `${up}/${other.endsWith('.ts') ? other : `${other}/a.ts`}`;
        const text = layers.flat().map((other) => `import '${pathOf(other)}';\n`);
        expect(faultsOf(file, text.join(''))).toEqual(
          outward.map((other) => `${file}: ${pathOf(other)}`),
        );
      }
    }
  },
);

interface Diagnostic {
  category: string;
  location: { path: string; start: { line: number } };
}

/** Lints files that are not in the repository, and returns the faults as `file:line rule`. */
async function lint(files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-imports-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { vcs: _, ...config } = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8'));
  const own = { 'biome.json': JSON.stringify(config) };
  const plugins = config.plugins.map(async ({ path }: { path: string }) => [
    path,
    await readFile(join(root, path), 'utf8'),
  ]);
  const all = { ...files, ...own, ...Object.fromEntries(await Promise.all(plugins)) };
  for (const [file, text] of Object.entries<string>(all)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const words = ['lint', '--reporter=json', '--max-diagnostics=none'];
  const biome = join(root, 'node_modules', '.bin', 'biome');
  const { stdout } = await promisify(execFile)(biome, words, { cwd: folder }).catch((e) => e);
  return JSON.parse(stdout)
    .diagnostics.map(
      ({ category, location: { path, start } }: Diagnostic) => `${path}:${start.line} ${category}`,
    )
    .sort();
}

test('a circle of files is refused, also one of types', async () => {
  const faults = await lint({
    'one.ts': "import type { Two } from './two.ts';\nexport type One = Two | null;\n",
    'two.ts': "import type { One } from './one.ts';\nexport type Two = One[];\n",
  });
  expect(faults).toEqual([
    'one.ts:1 lint/suspicious/noImportCycles',
    'two.ts:1 lint/suspicious/noImportCycles',
  ]);
});

test('a promise that nobody waits for is refused', async () => {
  const faults = await lint({
    'one.ts': 'async function one(): Promise<void> {}\none();\nexport {};\n',
  });
  expect(faults).toEqual(['one.ts:2 lint/nursery/noFloatingPromises']);
});

test('what comes from outside is taken by those alone who may', async () => {
  const decoding = `import { decodeJwt, decodeProtectedHeader } from 'jose';
import { decodeJson } from '@latchkey/domain/decode-json';
export const one: { sub: string } = JSON.parse('');
export const two = decodeJson('') as { sub: string };
export const three = async (response: Response) => (await response.json()).sub;
export const four = decodeJwt('').sub ?? decodeProtectedHeader('').kid;
export const five = decodeJson('').sub;
`;
  // What the types of `apps/server/src/http/linking/vouchers.test-d.ts` refuse, with a cast around them.
  const unasked = `import type { ApplicationRecord, KeptDocument, LinkRecord } from '@latchkey/store/records';
import type { Location } from '@latchkey/rules/linking/redirect';
export const one = (link: LinkRecord) => link.redirect_uri as Location;
export const two = (link: LinkRecord) => link.redirect_uri as string;
export const three = (application: ApplicationRecord) => application.name as string;
export const four = (application: ApplicationRecord) => application.document?.jwks_uri as string;
export const five = (application: ApplicationRecord) => String(application.name);
export const six = (link: LinkRecord) => link.redirect_uri.toString();
export const seven = ({ name }: ApplicationRecord) => String(name);
export const eight = (link: LinkRecord) => link.redirect_uri as unknown as string;
export const nine = (kept: KeptDocument) => kept.document as string;
export const eleven = (application: ApplicationRecord) => application.redirect_uris[0] as string;
export const twelve = ({ redirect_uris }: ApplicationRecord) => redirect_uris as string[];
export const ten = ({ redirect_uris: [uri = ''] }: ApplicationRecord) => fetch(uri);
`;
  const host = `export const one = (document: { uri: string }) => new URL(document.uri).host;
export const two = ({ uri }: { uri: string }) => { const { hostname } = new URL(uri); return hostname; };
`;
  const faults = await lint({
    'apps/server/src/http/planted.ts': decoding,
    'packages/rules/src/client-documents/planted.ts': decoding,
    'apps/server/src/http/planted.test.ts': decoding,
    'packages/store/src/planted.ts': decoding,
    'apps/server/src/http/unasked.ts': unasked,
    'packages/rules/src/linking/unasked.ts': unasked,
    'packages/rules/src/vouchers.ts': unasked,
    'apps/server/src/http/linking/views/unasked.ts': host,
    'apps/server/src/http/linking/views/outside.ts': host,
  });
  // The types refuse the last line.
  const lines = [1, 1, 3, 4, 5, 6, 6].map((line) => `planted.ts:${line} plugin`);
  const casts = [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map(
    (line) => `unasked.ts:${line} plugin`,
  );
  expect(faults).toEqual(
    [
      ...[...lines, ...casts].map((fault) => `apps/server/src/http/${fault}`),
      'apps/server/src/http/linking/views/unasked.ts:1 plugin',
      'apps/server/src/http/linking/views/unasked.ts:2 plugin',
      ...lines.map((fault) => `packages/rules/src/client-documents/${fault}`),
      ...casts.map((fault) => `packages/rules/src/linking/${fault}`),
    ].sort(),
  );
});
