import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from 'tsup';

type Plugin = NonNullable<Options['esbuildPlugins']>[number];

const FILE = 'dist/THIRD-PARTY-NOTICES.txt';

/** Up to the folder of the package that a bundled file is from. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/;

/**
 * Writes the licences of the packages that a bundle contains code of, next to the bundle. Their names
 * come from what esbuild reports, so a newly bundled package can't be forgotten.
 *
 * @param copied - folders of packages whose files are copied next to the bundle
 */
export function thirdPartyNotices(...copied: string[]): Plugin {
  return {
    name: 'third-party-notices',
    setup(build) {
      build.initialOptions.metafile = true;
      build.onEnd(async ({ metafile }) => {
        const folders = new Set(copied);
        for (const { inputs } of Object.values(metafile?.outputs ?? {})) {
          for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
            const [folder] = PACKAGE_FOLDER.exec(path) ?? [];
            if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
          }
        }
        if (folders.size === 0) return;
        const notices = await Promise.all([...folders].map(noticeOf));
        await mkdir('dist', { recursive: true });
        await writeFile(FILE, notices.sort().join(`\n${'-'.repeat(80)}\n\n`));
      });
    },
  };
}

async function noticeOf(folder: string): Promise<string> {
  const { name, version, license } = JSON.parse(
    await readFile(join(folder, 'package.json'), 'utf8'),
  );
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice)/i.test(file));
  if (files.length === 0) {
    throw new Error(
      `${name} is bundled, and has no licence file. Make it a dependency, or write its notice by hand.`,
    );
  }
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  return [`${name} ${version} (${license})`, ...texts.map((text) => text.trim()), ''].join('\n\n');
}
