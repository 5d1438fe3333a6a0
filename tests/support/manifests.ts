import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What the tests read of a package.json. */
export interface Manifest {
  name: string;
  private?: boolean;
  description: string;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
}

/** The private packages that the tarball of the server contains, from the inside out. */
export const PARTS_OF_SERVICE = [
  ...['domain', 'store', 'rules', 'store-sqlite', 'store-mongodb', 'store-postgresql'],
].map((name) => `@latchkey/${name}`);

/** Every file of the sources that the tarball of the server contains, from the root of the repository. */
export async function sourcesOfService(): Promise<string[]> {
  const parts = PARTS_OF_SERVICE.map((name) => name.replace('@latchkey/', ''));
  const folders = ['apps/server', `packages/{${parts}}`];
  const found: string[] = [];
  const exclude = ['**/*.test.ts', '**/*.test-d.ts'];
  for await (const path of glob(`{${folders}}/src/**/*.ts`, { cwd: root, exclude }))
    found.push(path);
  return found;
}

/** The manifests of the packages, with their folders. */
export async function manifests(): Promise<(Manifest & { folder: string })[]> {
  const found: (Manifest & { folder: string })[] = [];
  for await (const path of glob('{packages,apps}/*/package.json', { cwd: root })) {
    const manifest = JSON.parse(await readFile(join(root, path), 'utf8'));
    found.push({ ...manifest, folder: dirname(path) });
  }
  return found.sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** The packages in mermaid. What a package depends on through another one has no arrow. */
export async function packageGraph(): Promise<string> {
  const all = (await manifests()).filter(({ name }) => name !== '@latchkey/test-kit');
  const below = new Map(
    all.map(({ name, private: isPrivate, dependencies, devDependencies = {} }) => {
      // What is published may contain these.
      const bundled = ['@latchkey/schema', ...PARTS_OF_SERVICE].filter(
        (part) => !isPrivate && devDependencies[part] !== undefined,
      );
      const named = [...Object.keys(dependencies ?? {}), ...bundled];
      return [name, named.filter((one) => all.some((other) => other.name === one))];
    }),
  );
  const reach = (name: string): string[] =>
    (below.get(name) ?? []).flatMap((one) => [one, ...reach(one)]);
  const idOf = (name: string) => name.replace(/^@latchkey\//, '');
  const boxes = all.map(({ name, folder }) => `  ${idOf(name)}[${folder}]\n`);
  const arrows = all.flatMap(({ name }) => {
    const named = below.get(name) ?? [];
    const direct = named.filter((one) => !named.some((other) => reach(other).includes(one)));
    return direct.map((one) => `  ${idOf(name)} --> ${idOf(one)}\n`);
  });
  return ['flowchart TD\n', ...boxes, ...arrows].join('');
}
