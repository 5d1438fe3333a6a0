import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPnpm } from '../pnpm.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What we use of CycloneDX. `pnpm sbom` writes it. */
export interface BillOfMaterials {
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

export interface Component {
  'bom-ref': string;
  group?: string;
  name: string;
  version: string;
  externalReferences?: { hashes?: { alg: string; content: string }[] }[];
}

/** The name that npm knows a component by. */
export const nameOf = ({ group, name }: Component) =>
  group === undefined ? name : `${group}/${name}`;

/**
 * What the lockfile has for a package of the workspace.
 *
 * @param folder - the package's, in the repository
 * @param which - what it needs to run, or to be developed
 */
export function billOfMaterials(folder: string, which: '--prod' | '--dev'): BillOfMaterials {
  const { command, args } = findPnpm();
  const { name } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const words = ['sbom', '--sbom-format=cyclonedx', '--sbom-spec-version=1.6', which];
  const options = { cwd: root, shell: process.platform === 'win32', maxBuffer: 2 ** 26 };
  return JSON.parse(
    String(execFileSync(command, [...args, `--filter=${name}`, ...words], options)),
  );
}

const NOTICES = 'dist/THIRD-PARTY-NOTICES.txt';

/** What is in a built package or is installed with it: also what its bundles contain. */
export function billOfRelease(folder: string): BillOfMaterials {
  const bill = billOfMaterials(folder, '--prod');
  const notices = join(root, folder, NOTICES);
  if (!existsSync(notices)) return bill;
  const bundled = [...readFileSync(notices, 'utf8').matchAll(/^(\S+) (\S+) \(.+\)\n\n/gm)];
  const candidates = billOfMaterials(folder, '--dev').components;
  const contained = bundled.map(([, name, version]) => {
    const found = candidates.find((each) => nameOf(each) === name && each.version === version);
    if (found === undefined) throw new Error(`The lockfile lacks ${name} ${version}.`);
    return found;
  });
  const refs = contained.map((each) => each['bom-ref']);
  bill.components.push(...contained);
  bill.dependencies.push(...refs.map((ref) => ({ ref, dependsOn: [] })));
  const own = bill.dependencies.find(({ ref }) => ref === bill.metadata.component['bom-ref']);
  own?.dependsOn.push(...refs);
  return bill;
}
