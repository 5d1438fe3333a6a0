import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

// `npm run check` lints the imports: in the service they point inward, and nowhere do they make a
// circle. It also lints what else a type checker can't see.

const root = fileURLToPath(new URL('..', import.meta.url));
const biome = join(root, 'node_modules', '.bin', 'biome');

/** The folders of apps/server/src, from the inside out. Those of one layer may import each other. */
const LAYERS = [
  ['credentials', 'outbound', 'page-texts', 'store'],
  ['audit', 'limits', 'log'],
  [
    'accounts',
    'applications',
    'client-documents',
    'connections',
    'events',
    'grants',
    'keys',
    'linking',
    'resources',
    'summary',
  ],
  ['operations'],
  ['metrics', 'openapi', 'tracing'],
  ['http'],
  ['demo', 'doctor', 'restore'],
  ['cli'],
];

const layerOf = (room: string) => LAYERS.findIndex((layer) => layer.includes(room));

/** Lints files that are not in the repository, and returns the faults as `file:line rule`. */
async function faultsIn(files: Readonly<Record<string, string>>): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'latchkey-imports-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { vcs: _, ...config } = JSON.parse(await readFile(join(root, 'biome.json'), 'utf8'));
  const [{ path: plugin }] = config.plugins;
  const own = {
    'biome.json': JSON.stringify(config),
    [plugin]: await readFile(join(root, plugin), 'utf8'),
  };
  for (const [file, text] of Object.entries({ ...files, ...own })) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  const words = ['lint', '--reporter=json', '--max-diagnostics=none'];
  const { stdout } = await promisify(execFile)(biome, words, { cwd: folder }).catch((e) => e);
  return JSON.parse(stdout)
    .diagnostics.map(
      ({ category, location: { path, start } }: Diagnostic) => `${path}:${start.line} ${category}`,
    )
    .sort();
}

interface Diagnostic {
  category: string;
  location: { path: string; start: { line: number } };
}

test('every folder of the service has its layer', async () => {
  const entries = await readdir(join(root, 'apps/server/src'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  expect(LAYERS.flat().sort()).toEqual(folders.sort());
});

test('an import that points outward is refused, in each direction', async () => {
  const rooms = LAYERS.flat();
  const files: Record<string, string> = {};
  const expected: string[] = [];
  for (const room of rooms) {
    const others = rooms.filter((other) => other !== room);
    for (const [place, up] of [
      ['planted.ts', '..'],
      ['within/planted.ts', '../..'],
    ]) {
      const file = `apps/server/src/${room}/${place}`;
      files[file] = others
        .map((other, index) => `import type { a${index} } from '${up}/${other}/file.ts';\n`)
        .concat(`export type All = [${others.map((_, index) => `a${index}`)}];\n`)
        .join('');
      for (const [index, other] of others.entries()) {
        if (layerOf(other) > layerOf(room))
          expected.push(`${file}:${index + 1} lint/style/noRestrictedImports`);
      }
    }
  }
  expect(await faultsIn(files)).toEqual(expected.sort());
});

test('a circle of files is refused, also one of types', async () => {
  const faults = await faultsIn({
    'one.ts': "import type { Two } from './two.ts';\nexport type One = Two | null;\n",
    'two.ts': "import type { One } from './one.ts';\nexport type Two = One[];\n",
  });
  expect(faults).toEqual([
    'one.ts:1 lint/suspicious/noImportCycles',
    'two.ts:1 lint/suspicious/noImportCycles',
  ]);
});

test('a promise that nobody waits for is refused', async () => {
  const faults = await faultsIn({
    'one.ts': 'async function one(): Promise<void> {}\none();\nexport {};\n',
  });
  expect(faults).toEqual(['one.ts:2 lint/nursery/noFloatingPromises']);
});

test('decoded JSON is unknown until a schema has read it', async () => {
  const decoding = `import { decodeJwt, decodeProtectedHeader } from 'jose';
import { decodeJson } from '../decode-json.ts';
export const one: { sub: string } = JSON.parse('');
export const two = decodeJson('') as { sub: string };
export const three = async (response: Response) => (await response.json()).sub;
export const four = decodeJwt('').sub ?? decodeProtectedHeader('').kid;
export const five = decodeJson('').sub;
`;
  const faults = await faultsIn({
    'apps/server/src/http/planted.ts': decoding,
    'packages/rules/src/client-documents/planted.ts': decoding,
    'apps/server/src/http/planted.test.ts': decoding,
    'packages/store/src/planted.ts': decoding,
  });
  // The types refuse the last line.
  const lines = [1, 1, 3, 4, 5, 6, 6].map((line) => `:${line} plugin`);
  expect(faults).toEqual(
    ['client-documents', 'http'].flatMap((folder) =>
      lines.map((line) => `apps/server/src/${folder}/planted.ts${line}`),
    ),
  );
});
